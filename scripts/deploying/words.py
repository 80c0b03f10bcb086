"""What a deployment says, in English and in Chinese; the language is that of the environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Words = tuple[str, str]
"""A sentence in English and in Chinese; `{…}` are values."""

STEPS: dict[str, Words] = {
    "project": ("Read the project", "读取项目"),
    "account": ("Check the login and the account", "检查登录与账号"),
    "survey": ("Look at what is there already", "查看账号里已有的资源"),
    "resources": ("Create what is missing", "创建缺少的资源"),
    "packages": ("Vendor the Worker's packages", "准备 Worker 所需的 Python 包"),
    "panel": ("Build the panel", "构建管理面板"),
    "folder": ("Gather what is uploaded", "整理要上传的文件"),
    "migrations": ("Migrate the database", "升级数据库结构"),
    "upload": ("Upload the Worker", "上传 Worker"),
    "key": ("Check the key", "检查钥匙 CHATBOX_API_KEY"),
    "smoke": ("Ask for /health", "访问 /health 验证"),
}
"""The steps by name; their order is that of `steps.STEPS`."""

NOTES: dict[str, Words] = {
    "dry_run": (
        "Dry run: nothing is created, changed or uploaded.",
        "演练模式：不会创建、修改或上传任何东西。",
    ),
    "names": (
        "Worker {worker!r}; {resources}.",
        "Worker 名称 {worker!r}；{resources}。",
    ),
    "account": ("Account {account}.", "账号 {account}。"),
    "account_later": (
        (
            "Not logged in: the real run needs CLOUDFLARE_API_TOKEN with CLOUDFLARE_ACCOUNT_ID, or "
            "`npx wrangler login`."
        ),
        (
            "尚未登录：正式运行需要 CLOUDFLARE_API_TOKEN 和 CLOUDFLARE_ACCOUNT_ID，"
            "或先执行 `npx wrangler login`。"
        ),
    ),
    "unreachable": (
        "Cloudflare's API does not answer; what is there already stays unknown in this dry run.",
        "连不上 Cloudflare 的 API；这次演练无法得知已有资源。",
    ),
    "survey_later": ("Needs the login; skipped.", "需要登录，已跳过。"),
    "worker_new": ("There is no Worker {worker!r} yet.", "还没有名为 {worker!r} 的 Worker。"),
    "worker_there": (
        "The Worker {worker!r} is there and will be updated.",
        "已有 Worker {worker!r}，将更新它。",
    ),
    "found": ("{kind} {name!r} is there.", "{kind} {name!r} 已存在。"),
    "kept": (
        "The Worker's {kind} {name!r} stays bound; {variable}=none would take it off.",
        "Worker 现有的{kind} {name!r} 保持绑定；设置 {variable}=none 才会解除。",
    ),
    "created": ("{kind} {name!r} created.", "已创建 {kind} {name!r}。"),
    "would_create": (
        "Would create the {kind} {name!r}.",
        "将创建 {kind} {name!r}。",
    ),
    "would_ensure": (
        "Would look for the {kind} {name!r}, and create it when missing.",
        "将查找 {kind} {name!r}，没有就创建。",
    ),
    "written": (
        "{folder} holds what is uploaded, {file} the ids; git tracks neither.",
        "要上传的内容在 {folder}，资源 id 写在 {file}；两者都不进 git。",
    ),
    "would_run": ("Would run: {command}", "将执行：{command}"),
    "already_vendored": (
        "python_modules and the panel are there; what would be uploaded:",
        "python_modules 与管理面板都已就绪；将上传的内容：",
    ),
    "key_set": ("CHATBOX_API_KEY is set.", "CHATBOX_API_KEY 已设置。"),
    "key_plain": (
        (
            "CHATBOX_API_KEY is set as a plain variable, which others with access to the account "
            "can "
            "read: delete it in the dashboard and add it again as a Secret."
        ),
        (
            "CHATBOX_API_KEY 现在是明文变量（Variable），能进账号的人都看得到："
            "请在控制台删除后改用 Secret 类型重新添加。"
        ),
    ),
    "key_from_environment": (
        "CHATBOX_API_KEY was taken from the environment and stored as a secret of the Worker.",
        "已把环境里的 CHATBOX_API_KEY 存为 Worker 的 Secret。",
    ),
    "key_missing": (
        (
            "CHATBOX_API_KEY is not set yet, so nobody can log in. Make up a long password and "
            "either\n"
            "  run:  npx wrangler secret put CHATBOX_API_KEY --name {worker}\n"
            "  or add it in the dashboard: Workers & Pages > {worker} > Settings > Variables and "
            "Secrets > Add > type Secret."
        ),
        (
            "还没有设置 CHATBOX_API_KEY，因此谁也登录不了。自己编一个够长的密码，然后任选一种：\n"
            "  命令行：npx wrangler secret put CHATBOX_API_KEY --name {worker}\n"
            "  控制台：Workers & Pages > {worker} > Settings > Variables and Secrets > Add，"
            "类型选 Secret。"
        ),
    ),
    "key_offer": (
        "CHATBOX_API_KEY is not set. Make one now and store it as a secret? [Y/n] ",
        "还没有设置 CHATBOX_API_KEY。现在生成一个并存为 Secret 吗？[Y/n] ",
    ),
    "key_made": (
        "Your key, shown once; keep it safe: {key}",
        "你的钥匙（只显示这一次，请保存好）：{key}",
    ),
    "healthy": ("{url} answers: {status}.", "{url} 正常应答：{status}。"),
    "done": ("Deployed.", "部署完成。"),
    "done_dry": ("That is all; nothing was changed.", "以上就是全部步骤；没有任何改动。"),
    "mcp_url": ("MCP URL:   {url}", "MCP 地址：  {url}"),
    "base_url": ("Base URL:  {url}", "Base URL： {url}"),
    "panel_url": ("Panel:     {url}", "管理面板：  {url}"),
    "again": (
        "Mend that and run the same command again: it goes on from here.",
        "解决后再次运行同一条命令即可，会从这里继续。",
    ),
}
"""What is said on the way."""

STOPS: dict[str, Words] = {
    "no_wrangler": (
        "wrangler is not installed: run `npm ci` in the project's root first.",
        "没有安装 wrangler：请先在项目根目录执行 `npm ci`。",
    ),
    "no_project": (
        "wrangler.toml cannot be read: {reason}. Root directory must be `/`.",
        "读不了 wrangler.toml：{reason}。Root directory 必须是 `/`。",
    ),
    "bad_name": (
        (
            "{name!r} (from {variable}) is no name for a resource: lower-case letters, digits and "
            "single dashes, at most 54."
        ),
        "{name!r}（来自 {variable}）不能用作资源名：只能用小写字母、数字和单个连字符，最多 54 个。",
    ),
    "predecessor": (
        (
            "{name!r} belongs to a predecessor's deployment, which is never written into. "
            "Choose another name with {variable}."
        ),
        "{name!r} 属于旧版（前身）部署，绝不会往里写。请用 {variable} 换一个名字。",
    ),
    "other_index": (
        (
            "The Vectorize index {name!r} holds vectors of another kind ({found}) than the model "
            "makes ({wanted}). It is left as it is: choose another name with {variable}; what it "
            "holds is made anew there from the database."
        ),
        (
            "Vectorize 索引 {name!r} 的维度或度量（{found}）与模型（{wanted}）不符，不会改动它。"
            "请用 {variable} 换一个名字，向量会从数据库重新生成。"
        ),
    ),
    "not_logged_in": (
        (
            "Not logged in to Cloudflare. In a build or in CI set CLOUDFLARE_API_TOKEN and "
            "CLOUDFLARE_ACCOUNT_ID; on your own machine run `npx wrangler login`."
        ),
        (
            "尚未登录 Cloudflare。在构建环境或 CI 里请设置 CLOUDFLARE_API_TOKEN 和 "
            "CLOUDFLARE_ACCOUNT_ID；在自己电脑上请先执行 `npx wrangler login`。"
        ),
    ),
    "bad_token": (
        (
            "Cloudflare refuses CLOUDFLARE_API_TOKEN: it is mistyped, expired or revoked. Make a "
            "new "
            "one (DEPLOYING.md, step 2)."
        ),
        (
            "Cloudflare 拒绝了 CLOUDFLARE_API_TOKEN：可能填错、过期或被撤销。"
            "请重新生成（见 DEPLOYING.zh-CN.md 第 2 步）。"
        ),
    ),
    "no_account": (
        (
            "The token does not say which account it is for: set CLOUDFLARE_ACCOUNT_ID (the "
            "dashboard "
            "shows it under Workers & Pages)."
        ),
        (
            "无法从 token 得知是哪个账号：请设置 CLOUDFLARE_ACCOUNT_ID"
            "（控制台 Workers & Pages 页面能看到）。"
        ),
    ),
    "many_accounts": (
        "The login belongs to several accounts; set CLOUDFLARE_ACCOUNT_ID to one of: {accounts}.",
        "这个登录有多个账号；请把 CLOUDFLARE_ACCOUNT_ID 设为其中一个：{accounts}。",
    ),
    "other_account": (
        "CLOUDFLARE_ACCOUNT_ID is {account!r}, but the login is for: {accounts}.",
        "CLOUDFLARE_ACCOUNT_ID 是 {account!r}，但当前登录的账号是：{accounts}。",
    ),
    "permission": (
        (
            "The token lacks a permission that this step needs: {permission}. Edit the token in "
            "the "
            "dashboard (My Profile > API Tokens) and add it."
        ),
        (
            "token 缺少这一步需要的权限：{permission}。"
            "请在控制台（My Profile > API Tokens）编辑该 token，加上这项权限。"
        ),
    ),
    "network": (
        "Cloudflare's API does not answer. Check the network and try again.",
        "连不上 Cloudflare 的 API。请检查网络后重试。",
    ),
    "subdomain": (
        (
            "The account has no workers.dev address yet: open Workers & Pages in the dashboard "
            "once, "
            "choose one, and run this again."
        ),
        "账号还没有 workers.dev 子域名：请在控制台打开一次 Workers & Pages，选好子域名后重新运行。",
    ),
    "failed": ("The step failed. wrangler said: {text}", "这一步失败了。wrangler 的说明：{text}"),
    "gone": (
        "The {kind} {name!r} was created, but is not listed yet.",
        "{kind} {name!r} 已创建，但列表里还没出现。",
    ),
    "database_taken": (
        (
            "The D1 database {name!r} holds the tables of another program ({tables}); it is not "
            "touched. Choose another name with {variable}."
        ),
        "D1 数据库 {name!r} 里是别的程序的表（{tables}），不会动它。请用 {variable} 换一个名字。",
    ),
    "worker_taken": (
        (
            "A Worker {worker!r} is there, and it is bound to something else than this database "
            "({bindings}); it is not overwritten. Choose another name with "
            "REMEMBRANCER_WORKER_NAME, "
            "or, if it is yours to replace, set REMEMBRANCER_TAKE_OVER={worker}."
        ),
        (
            "已有名为 {worker!r} 的 Worker，它绑定的不是这个数据库（{bindings}），不会覆盖它。"
            "请用 REMEMBRANCER_WORKER_NAME 换一个名字；"
            "如果确认可以替换，请设置 REMEMBRANCER_TAKE_OVER={worker}。"
        ),
    ),
    "vendor": (
        "scripts/vendor failed; its reason is above.",
        "scripts/vendor 失败，原因见上面的输出。",
    ),
    "panel": (
        "The panel could not be built; the reason is above. It takes `npm ci` in the root first.",
        "管理面板没有构建成功，原因见上面的输出。请先在项目根目录执行 `npm ci`。",
    ),
    "no_r2": (
        (
            "The account has no R2 yet, which asks for a card even where it is free: open R2 in "
            "the dashboard once, or leave REMEMBRANCER_R2_NAME out; long texts then stay in D1."
        ),
        (
            "账号还没有开通 R2（即使在免费额度内也要绑卡）：请在控制台打开一次 R2；"
            "或者不要设置 REMEMBRANCER_R2_NAME，长文本就留在 D1。"
        ),
    ),
    "next_size": (
        (
            "How many dimensions has the next model? Set {variable}; the index {name!r} is made "
            "with as many and cannot be changed later."
        ),
        "下一个模型的向量是多少维？请设置 {variable}；索引 {name!r} 按它创建，之后不能再改。",
    ),
    "same_index": (
        "VECTORIZE_INDEX_NAME_NEXT names the index that answers now, {name!r}; name another one.",
        "VECTORIZE_INDEX_NAME_NEXT 写的是正在使用的索引 {name!r}；请换一个名字。",
    ),
    "no_address": (
        "wrangler uploaded the Worker but named no address; set REMEMBRANCER_ADDRESS to yours.",
        "Worker 已上传，但 wrangler 没有给出地址；请把 REMEMBRANCER_ADDRESS 设为你的地址。",
    ),
    "unhealthy": (
        (
            "The Worker is uploaded, but {url} did not answer as it should within {seconds} s: "
            "{reason}. A new address may take minutes. Where workers.dev is blocked, bind a "
            "domain of "
            "your own and set REMEMBRANCER_ADDRESS to it."
        ),
        (
            "Worker 已上传，但 {url} 在 {seconds} 秒内没有正常应答：{reason}。"
            "新地址可能要等几分钟；"
            "在打不开 workers.dev 的网络里，请绑定自己的域名，并把 REMEMBRANCER_ADDRESS 设为它。"
        ),
    ),
}
"""Why a deployment stops; each says the way out."""

KINDS: dict[str, Words] = {
    "D1": ("D1 database", "D1 数据库"),
    "KV": ("KV namespace", "KV 命名空间"),
    "Vectorize": ("Vectorize index", "Vectorize 索引"),
    "VectorizeNext": ("Vectorize index of the next model", "下一个模型的 Vectorize 索引"),
    "R2": ("R2 bucket", "R2 存储桶"),
    "DLQ": ("dead-letter queue", "死信队列"),
    "Queue": ("queue", "队列"),
}
"""The kinds of resource."""


class Stop(Exception):
    """A deployment that cannot go on: `key` is one of `STOPS`, `values` go into its sentence."""

    def __init__(self, key: str, /, **values: object) -> None:
        self.key = key
        self.values = values
        super().__init__(STOPS[key][0].format(**values))


class Speech:
    """Sentences in one language."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        tongue = next((environment[name] for name in _LOCALES if environment.get(name)), "")
        self._index = 1 if tongue.lower().startswith("zh") else 0

    def pick(self, words: Words, /, **values: object) -> str:
        """A sentence of this language, filled in."""
        return words[self._index].format(**values)

    def enumerate(self, parts: Sequence[str]) -> str:
        """Several things in one sentence."""
        return self.pick((", ", "、")).join(parts)

    def note(self, key: str, /, **values: object) -> str:
        """A sentence of `NOTES`."""
        return self.pick(NOTES[key], **values)

    def stop(self, stop: Stop) -> str:
        """Why it stopped."""
        values = dict(stop.values)
        if "kind" in values:
            values["kind"] = self.pick(KINDS[str(values["kind"])])
        return self.pick(STOPS[stop.key], **values)


_LOCALES = ("LC_ALL", "LC_MESSAGES", "LANG")
