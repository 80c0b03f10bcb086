"""Redaction: what is a secret and what is not, in Chinese and English, one case a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.redact import known, labelled
from remembrancer.core.redact.redaction import redact, redact_value

R36 = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
"""36 characters as a key has them; whole keys would set off the scanners of code hosts."""
HEX32 = "0123456789abcdef" * 2
JWT = f"ey{'JhbGciOiJIUzI1NiJ9'}.eyJzdWIiOiIxMjM0In0.{R36}"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc=\n-----END RSA PRIVATE KEY-----"
K, T, P, C = (f"[redacted:{kind}]" for kind in ("key", "token", "password", "connection"))
X = "[redacted:private_key]"

SECRET: dict[str, tuple[str, str]] = {
    "openai": (f"my key is sk-{R36}", f"my key is {K}"),
    "openai project": (f"sk-proj-{R36}_x", K),
    "anthropic": (f"用 sk-ant-api03-{R36} 调用", f"用 {K} 调用"),
    "openrouter": (f"sk-or-v1-{HEX32}{HEX32}", K),
    "beside han": (f"密钥是sk-{R36}别外传", f"密钥是{K}别外传"),
    "beside full stop": (f"sk-{R36}。记一下", f"{K}。记一下"),
    "in brackets": (f"（sk-{R36}）", f"（{K}）"),
    "full-width letters": (f"ｓｋ－{R36}", K),
    "invisible inside": (f"sk-{R36[:10]}\u200b{R36[10:]}", K),
    "groq": (f"gsk_{R36}", K),
    "hugging face": (f"hf_{R36}", K),
    "google": (f"AIza{R36}", K),
    "zhipu": (f"{HEX32}.AbCdEf0123456789", K),
    "aws id": ("AKIA" + "IOSFODNN7EXAMPLE", K),
    "aws secret by label": (
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        f"aws_secret_access_key = {K}",
    ),
    "aws secret alone": ("wJalr3UtnFEMI/K7MDENG/bPxRfi9YEXAMPLEKEY", K),
    "aliyun": ("LTAI" + "5tAbCdEfGhIjKlMn", K),
    "tencent": ("AKID" + "z8krbsJ5yKBZQpn74W", K),
    "stripe": (f"sk_live_{R36}", K),
    "webhook secret": (f"whsec_{R36}", K),
    "sendgrid": (f"SG.{R36[:22]}.{R36}", K),
    "ours": (f"rmb_{R36}", K),
    "random without prefix": (f"it is {R36}", f"it is {K}"),
    "random beside han": (f"值{R36}，收好", f"值{K}，收好"),
    "github": (f"ghp_{R36}", T),
    "github fine": (f"github_pat_{R36}", T),
    "gitlab": (f"glpat-{R36[:20]}", T),
    "slack": (f"xoxb-123456789012-{R36}", T),
    "npm": (f"npm_{R36}", T),
    "pypi": (f"pypi-{R36}", T),
    "telegram": (f"机器人 123456789:AA{R36}", f"机器人 {T}"),
    "jwt": (f"token {JWT}", f"token {T}"),
    "jwt beside han": (f"令牌{JWT}过期", f"令牌{T}过期"),
    "bearer": (f"Authorization: Bearer {R36}", f"Authorization: Bearer {T}"),
    "basic": ("Authorization: Basic dXNlcjpwYXNz", f"Authorization: Basic {T}"),
    "slack hook": (f"https://hooks.slack.com/services/T0000/B0000/{R36}", T),
    "feishu hook": (f"https://open.feishu.cn/open-apis/bot/v2/hook/{HEX32}", T),
    "pem": (f"key:\n{PEM}\nend", f"key:\n{X}\nend"),
    "pem beside han": (f"私钥如下{PEM}请保管", f"私钥如下{X}请保管"),
    "pem cut off": ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz", X),
    "pgp": (PEM.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"), X),
    "postgres": ("postgres://bob:s3cret@db.local:5432/app", C),
    "postgres beside han": ("连接postgres://bob:s3cret@db/app，记住", f"连接{C}，记住"),
    "mysql odd password": ("mysql://root:p@ss/w:rd@10.0.0.1/x done", f"{C} done"),
    "mongodb srv": ("mongodb+srv://u:p@cluster0.example.net/?w=1", C),
    "redis without user": ("redis://:hunter2@127.0.0.1:6379/0", C),
    "http with password": ("https://bob:hunter2@example.com/x", C),
    "ado": ("Server=db;User=sa;Password=hunter2;", f"Server=db;User=sa;Password={P};"),
    "password colon": ("password: hunter2", f"password: {P}"),
    "password wide colon": ("密码：hunter2", f"密码：{P}"),
    "password equals": ("DB_PASSWORD=hunter2", f"DB_PASSWORD={P}"),
    "password camel": ("dbPassword = 'correct horse'", f"dbPassword = '{P}'"),
    "password json": ('{"password": "hunter2"}', f'{{"password": "{P}"}}'),
    "password letters": ("Password: hunter", f"Password: {P}"),
    "password sentence": ("My password is hunter2.", f"My password is {P}."),
    "password mixed": ("the wifi password is blueHorse", f"the wifi password is {P}"),
    "password quoted": ("the password is “swordfish”", f"the password is “{P}”"),
    "password no verb": ("wifi password 12345678", f"wifi password {P}"),
    "password option": ("psql --password hunter2 -h db", f"psql --password {P} -h db"),
    "mima shi": ("我的密码是hunter2", f"我的密码是{P}"),
    "mima shi letters": ("WiFi密码是swordfish，别忘", f"WiFi密码是{P}，别忘"),
    "mima wei": ("密码为 Abc@1234。", f"密码为 {P}。"),
    "mima changed": ("密码改成 n3wpass 了", f"密码改成 {P} 了"),
    "mima digits": ("门锁密码 482913", f"门锁密码 {P}"),
    "mima glued": ("WiFi密码88886666", f"WiFi密码{P}"),
    "mima han": ("密码：芝麻开门", f"密码：{P}"),
    "mima quoted han": ("密码是「芝麻开门」", f"密码是「{P}」"),
    "mima traditional": ("密碼：hunter2", f"密碼：{P}"),
    "kouling": ("口令: open-sesame", f"口令: {P}"),
    "passphrase": ("passphrase = correct-horse-battery", f"passphrase = {P}"),
    "pin code": ("PIN码：4821", f"PIN码：{P}"),
    "api key label": ("API_KEY=abcd1234efgh", f"API_KEY={K}"),
    "api key words": ("api key: abcd1234efgh", f"api key: {K}"),
    "client secret": ("client_secret: 9f8e7d6c5b4a", f"client_secret: {K}"),
    "miyao": ("密钥：a1b2c3d4e5f6", f"密钥：{K}"),
    "token label": ("token=abcdef123456", f"token={T}"),
    "token in address": (
        "https://x.example/?token=abcdef123456",
        f"https://x.example/?token={T}",
    ),
    "hash by label": (f"access_token: {HEX32}", f"access_token: {T}"),
    "lingpai": ("令牌: abcdef-123456", f"令牌: {T}"),
    "two": ("密码：hunter2 和 AKIA" + "IOSFODNN7EXAMPLE", f"密码：{P} 和 {K}"),
}

PLAIN: dict[str, str] = {
    "zh fact": "我的测试暗号是苹果星星-0428。",
    "zh question": "密码是什么？",
    "zh forgot": "密码忘了，明天重置",
    "zh required": "密码是必填的",
    "zh rule": "密码至少8位，包含大小写",
    "zh count": "密码8位数字",
    "zh see": "密码：见备忘录",
    "zh year": "密码2024年改过一次",
    "zh manager": "密码管理器用 Bitwarden",
    "zh base64": "密码是base64编码的",
    "zh key talk": "密钥每季度轮换一次",
    "zh door": "门禁 1234",
    "zh phone": "电话 13800138000，地址朝阳区1号",
    "zh token": "这次对话用了 4096 个 token",
    "zh shu": "属兔",
    "en question": "what is the password?",
    "en required": "password is required",
    "en stored": "The password is stored in 1Password",
    "en see": "password: see the vault",
    "en wrong": "the password was wrong",
    "en none": "password: none",
    "en placeholder": "PASSWORD=<your password>",
    "en variable": "PASSWORD=$DB_PASSWORD",
    "en stars": "password: ********",
    "en call": "password = getpass.getpass()",
    "en environ": 'token = os.environ["TOKEN"]',
    "en tokens": "max_tokens: 4096",
    "en token count": "token budget 2000, token: 4096",
    "en tokenizer": "tokenizer: bert-base-uncased-2024",
    "en keyboard": "keyboard: Keychron K2 with brown switches",
    "en secret": "the secret is patience",
    "en secretary": "secretary: Anna Smith 2024",
    "en compass": "compass: bearing 270",
    "en port": "port 2222, host db.local",
    "git hash": "fixed in 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "git short": "revert a1b2c3d",
    "sha256": f"sha256 {HEX32}{HEX32}",
    "uuid": "550e8400-e29b-41d4-a716-446655440000",
    "our id": "itm_01JABCDEFGHJKMNPQRSTVWXYZ0",
    "address": "https://example.com:8080/path@x?a=b:c@d",
    "address with user": "ssh://git@github.com/owner/name.git",
    "database without password": "postgres://localhost:5432/app",
    "mail": "写信给 bob@example.com，抄送 a.b@c.cn",
    "date": "deadline 2026-03-02T07:00:00Z",
    "identifier": "use MyVeryLongClassNameForHandlingThings in test_module_2_of_the_suite",
    "kebab": "sk-learn-contrib-imbalanced-extension",
    "path": "src/remembrancer/core/redact/redaction.py:123",
    "versions": "pydantic 2.11.3, python 3.12, node v22.4.1",
    "public key": "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----",
    "emoji": "🔑 放在门口的花盆下",
    "marked": f"密码：{P}，密钥是{K}",
}


@pytest.mark.parametrize("name", SECRET)
def test_secret_is_replaced_and_the_rest_stays(name: str) -> None:
    text, wanted = SECRET[name]
    assert redact(text) == wanted
    assert redact(f"前文。{text}\n后文") == f"前文。{wanted}\n后文" or "cut off" in name


@pytest.mark.parametrize("name", PLAIN)
def test_ordinary_text_stays_as_it_is(name: str) -> None:
    assert redact(PLAIN[name]) == PLAIN[name]


LABELS = (
    "password", "PassWord：", "密码", "密碼是", "口令", "api key", "secret access key", "ſecret",
    "TOKEN", "toKen", "session_id", "cookie", "credentials", "私钥", "--api-token", "PIN码",
    "pin code", "pwd", "İ", "passphrase",
)  # fmt: skip
VALUES = (
    " is ", "=", ": ", "：", "是", " ", "\n", "'hunter2!'", "Xk9#mQ2pLw7z", "a1b2c3d4e5f6",
    "好的，", "the word ", "“春江花月夜”", "x" * 300, " " * 40, R36,
)  # fmt: skip


@given(st.lists(st.sampled_from([*LABELS, *VALUES]), max_size=40))
def test_looking_near_labels_finds_what_looking_everywhere_finds(parts: list[str]) -> None:
    text = "".join(parts)
    for pattern in (labelled._OPTION, labelled._STRONG, labelled._WEAK):
        near = labelled._matches(pattern, text, labelled._windows(text))
        everywhere = labelled._matches(pattern, text, [(0, len(text))])
        assert [one.span() for one in near] == [one.span() for one in everywhere]


@given(
    st.lists(st.sampled_from([*(text for text, _ in SECRET.values()), *VALUES, *PLAIN.values()]))
)
def test_looking_where_a_form_can_be_finds_what_looking_everywhere_finds(parts: list[str]) -> None:
    text = "".join(parts)
    everywhere = [
        (*match.span(), kind) for kind, pattern in known.forms() for match in pattern.finditer(text)
    ]
    assert list(known.known_forms(text)) == everywhere


@given(
    st.lists(
        st.sampled_from([*(text for text, _ in SECRET.values()), *PLAIN.values(), " ", "，", "="])
        | st.text(max_size=12),
        max_size=6,
    )
)
def test_redacting_twice_is_redacting_once(parts: list[str]) -> None:
    once = redact("".join(parts))
    assert redact(once) == once


@pytest.mark.parametrize("between", ["", "，", " ", "的", "\n"])
def test_known_form_is_found_whatever_stands_beside_it(between: str) -> None:
    for secret in (f"sk-{R36}", f"ghp_{R36}", f"AKIA{'IOSFODNN7EXAMPLE'}"):
        text = f"我{between}{secret}{between}好"
        assert secret not in redact(text)


def test_values_inside_lists_and_objects_are_redacted_and_names_stay() -> None:
    value = {"password": ["密码：hunter2", 5, None, {"note": f"sk-{R36}"}]}
    assert redact_value(value) == {"password": [f"密码：{P}", 5, None, {"note": K}]}  # type: ignore[arg-type]


HARD = {
    "one letter": "a" * 400_000,
    "labels": "password" * 40_000,
    "labels apart": "密码 " * 100_000,
    "schemes": "postgres://" * 30_000,
    "pem heads": "-----BEGIN PRIVATE KEY-----" * 10_000,
    "dashes": "--token" * 50_000,
    "dots": "eyJ" * 100_000,
    "bearer": "bearer " * 50_000,
    "digits": "1" * 400_000,
    "signs": "sk-" * 100_000,
}


@pytest.mark.parametrize("name", HARD)
def test_long_text_ends_before_the_time_limit_of_a_test(name: str) -> None:
    # In proportion to the square of its length, each would take an hour.
    once = redact(HARD[name])
    assert len(once) <= len(HARD[name]) + len(X)
