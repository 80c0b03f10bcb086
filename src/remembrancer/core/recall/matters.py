"""Which everyday matters a text speaks of, in Chinese and English: a home, work, a birthday, food.

“我家在哪” and “I moved to Utrecht in May” share no word, and both speak of a home. A memory that
speaks of all that a question asks about may answer it in other words; one that does not is about
something else. That is evidence beside others, weighed in `core.recall.bearing`: no question is
told from another here, and what the table lacks says nothing. Every ring may import it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Final, NamedTuple

from remembrancer.core.text.variants import simplified

_SPOKEN: Final[dict[str, tuple[str, str]]] = {
    "home": (
        (
            "住在 住哪 住址 住的 我住 家住 现住 居住 住了 住过 住到 我家 家在 家里 在家 家的 "
            "老家 地址 搬家 搬到 搬去 搬来 搬完 搬进 小区 公寓 新家 定居"
        ),
        (
            "home live lives living lived address apartment flat house moved move moving reside "
            "resides neighbourhood neighborhood"
        ),
    ),
    "room": (
        "房子 卧室 客厅 厨房 卫生间 浴室 阳台 书房 几楼 楼层 平米 平方 户型 三居 两居",
        "bedroom kitchen bathroom balcony floor room rooms",
    ),
    "rent": (
        "房租 租金 租房 租的 房东 押一 押二 租约 续租",
        "rent rented renting landlord landlady lease tenancy",
    ),
    "mortgage": ("房贷 月供 按揭 贷款 还贷", "mortgage loan"),
    "parking": ("车位 停车", "parking garage"),
    "work": (
        (
            "工作 上班 职业 公司 任职 入职 就职 岗位 职位 同事 干什么的 做什么的 干嘛的 干啥的 "
            "老师 教师 医生 护士 工程师 程序员 设计师 设计的 会计 律师 厨师 工人 司机 警察 记者 "
            "公务员 经理 销售 后端 前端 运营 自由职业 开店 退休"
        ),
        (
            "work works worked working job company employer employed career occupation "
            "profession teacher nurse doctor engineer developer programmer designer accountant "
            "lawyer chef driver manager freelancer freelance retired office"
        ),
    ),
    "colleague": (
        "同事 老板 上司 领导 下属 组长 团队 team_lead",
        "colleague colleagues boss manager",
    ),
    "pay": (
        "工资 薪水 薪资 月薪 年薪 收入 年终奖 奖金 涨薪",
        "salary wage wages bonus income paycheck",
    ),
    "review": ("绩效 考核 晋升 升职", "performance promotion promoted appraisal"),
    "birthday": (
        "生日 出生 生的 诞辰 大寿 寿辰 几岁 多大了 年龄 年纪 周岁",
        "birthday born age aged old",
    ),
    "zodiac": (
        "生肖 属什么 属鼠 属牛 属虎 属兔 属龙 属蛇 属马 属羊 属猴 属鸡 属狗 属猪 星座 star_sign",
        "zodiac",
    ),
    "wedding": (
        "结婚 婚礼 领证 订婚 蜜月 结婚纪念日",
        "married marry wedding anniversary honeymoon engaged",
    ),
    "name": (
        (
            "叫什么 名字 姓名 全名 大名 小名 外号 绰号 昵称 笔名 网名 代号 名叫 叫做 叫作 改名 "
            "取名 称呼 姓什么 我姓 叫"
        ),
        "name named names called nickname alias codename",
    ),
    "school": (
        (
            "学校 大学 小学 中学 高中 初中 幼儿园 年级 小班 中班 大班 专业 毕业 念书 读书 上学 "
            "学院 本科 研究生 硕士 博士 留学 学费"
        ),
        (
            "school university college grade degree graduated graduate kindergarten major "
            "student campus tuition"
        ),
    ),
    "exam": (
        "考试 考到 考过 考场 考级 考研 试验 試験 成绩 分数 总分 准考证 及格 没过",
        "exam exams score scored certificate jlpt ielts toefl passed failed",
    ),
    "language": (
        "日语 日文 英语 英文 法语 德语 韩语 西班牙语 中文 普通话 方言 外语 语言 文法 聴解 日本語",
        "japanese english french german korean spanish chinese dutch language languages jlpt",
    ),
    "lesson": ("课程 上课 网课 家教 补习 辅导", "lesson lessons class classes tutor"),
    "allergy": ("过敏 疹 不耐受 不耐症 不耐", "allergic allergy allergies intolerant intolerance"),
    "medicine": (
        "药 胶囊 胰岛素 剂量 毫克 二甲双胍 布洛芬 阿司匹林 维生素",
        (
            "medicine medication medications pill pills dose dosage drug drugs tablet tablets "
            "insulin micrograms milligrams vitamin"
        ),
    ),
    "illness": (
        (
            "病 疼 痛 受伤 拉伤 扭伤 摔 炎 体检 复查 复诊 确诊 血压 血糖 尿酸 胆固醇 手术 康复 "
            "复健 老毛病"
        ),
        (
            "ill illness sick disease pain hurt hurts injury injured surgery checkup diagnosed "
            "headache migraine"
        ),
    ),
    "doctor": (
        "医生 医院 诊所 看病 牙医 门诊 医师 兽医 挂号",
        "doctor dr dentist hospital clinic physician vet endocrinologist",
    ),
    "blood": ("血型 型血 blood_type", ""),
    "teeth": ("牙", "teeth tooth dentist braces retainer"),
    "eyes": ("眼睛 眼镜 近视 散光 度数 视力", "eye eyes glasses eyesight"),
    "hand": ("哪只手 左手 右手 左撇子 右撇子 惯用手", "handed handedness"),
    "height": ("身高 多高 个子 一米 公分 厘米", "tall height cm"),
    "weight": ("体重 多重 公斤 减肥", "weigh weighs weight kg kilos"),
    "size": ("尺码 鞋码 码数 尺寸 多大码 腰围", "size sizes"),
    "eat": (
        "吃 饭 忌口 口味 外卖 点菜 零食 食物 料理 火锅 点餐 川菜 做菜",
        "eat eats eating ate food foods dish meal meals dinner lunch breakfast cuisine snack",
    ),
    "drink": (
        "喝 酒 咖啡 奶茶 牛奶 牛乳 饮料 茶",
        "drink drinks drinking drank coffee tea beer wine milk alcohol",
    ),
    "restaurant": ("餐厅 饭店 馆子 咖啡馆", "restaurant cafe bar"),
    "averse": (
        (
            "不吃 不喝 忌口 讨厌 受不了 不喜欢 不爱 不能吃 不能喝 不碰 不接 反感 不想要 厌恶 "
            "最烦 だめ 不用"
        ),
        "hate hates dislike dislikes avoid avoids refuse refuses refused",
    ),
    "like": (
        "喜欢 最爱 爱吃 爱喝 爱看 爱听 爱玩 偏好 偏爱 中意 好きな 好き",
        "like likes love loves favourite favorite prefer prefers enjoy enjoys",
    ),
    "colour": (
        "颜色 色",
        (
            "colour color colours colors red blue green yellow black white purple pink grey "
            "gray orange"
        ),
    ),
    "pet": (
        "宠物 猫 狗 柯基 金毛 泰迪 鹦鹉 仓鼠 兔子",
        "pet pets cat cats dog dogs kitten puppy rabbit hamster parrot",
    ),
    "car": (
        "开车 汽车 轿车 新车 比亚迪 特斯拉 丰田 大众 车牌 车险 的车 什么车 开的",
        "car cars drive drives driving vehicle tesla toyota",
    ),
    "bike": ("自行车 单车 电动车 骑车", "bike bicycle cycling ebike"),
    "plate": ("车牌", "plate"),
    "licence": ("驾照 驾驶证", "licence license"),
    "passport": ("护照 签证 身份证 通行证 台胞证 居住证", "passport visa permit"),
    "insurance": ("保险 车险 医保 社保 投保", "insurance insured"),
    "expire": (
        "到期 过期 截止 有效期 締め切り 期限",
        "expire expires expired expiry due deadline renew renewal",
    ),
    "phone": ("电话 手机", "phone iphone mobile telephone android"),
    "computer": ("电脑 笔记本 内存 主机 显卡", "laptop computer macbook thinkpad desktop pc imac"),
    "password": ("密码 口令 暗号", "password passcode pin passphrase"),
    "account": ("账号 帐号 账户 用户名", "account username login handle"),
    "network": ("路由器 宽带 网络 网速 wifi 无线网", "wifi router network broadband ssid"),
    "server": (
        "服务器 部署 机房 云主机",
        "server servers deploy deployed deploys deployment vps hosted hosting",
    ),
    "database": ("数据库 主库 从库", "database mysql postgres postgresql sqlite redis mongodb"),
    "port": ("端口 监听", "port ports listens listening"),
    "version": ("版本 升级到", "version upgraded"),
    "code": ("代码 编程 仓库 框架", "code coding repo repository framework"),
    "test": ("测试 单测 用例", "test tests testing"),
    "tool": ("编辑器 输入法 浏览器 笔记软件", "editor vim neovim emacs vscode zed ide browser"),
    "model": ("模型", "model gpt claude gemini deepseek llm"),
    "money": (
        "钱 价 费 多少钱 预算 封顶 元 块 报价 花费 开销",
        "cost costs price prices pay pays fee fees budget euro euros dollar dollars usd expensive",
    ),
    "bank": ("银行 信用卡 银行卡 账单 还款 工行 招行 建行 credit_card", "bank"),
    "saving": (
        "存款 存钱 存够 攒 理财 基金 股票 投资 首付 定投",
        "savings save saving invest investing stocks fund",
    ),
    "transfer": (
        "打款 转账 付款 汇款 结款 到账",
        "transfer transfers payment payments invoice paid payout",
    ),
    "sleep": (
        "睡 起床 作息 失眠 熬夜 入睡",
        "sleep sleeps sleeping bed bedtime insomnia asleep wake wakes",
    ),
    "sport": (
        (
            "运动 健身 跑步 打球 羽毛球 篮球 足球 乒乓 网球 游泳 爬墙 攀岩 瑜伽 徒步 马拉松 "
            "泳池 下水 爬山 滑雪"
        ),
        (
            "sport sports gym run runs running swim swims swimming climb climbing bouldering "
            "yoga tennis football basketball marathon race hiking skiing workout"
        ),
    ),
    "music": (
        "音乐 歌 乐队 琴 吉他 贝斯 鼓 团练 练团 排练 演出 演唱会",
        "music song songs band guitar bass piano drums concert gig",
    ),
    "film": ("电影 电视剧 追剧 动漫", "film films movie movies series anime"),
    "book": ("看书 小说 在读 书单 一本书 什么书", "book books novel author reading"),
    "game": ("游戏 手游 主机游戏 steam", "game games gaming steam"),
    "hobby": ("爱好 业余 兴趣", "hobby hobbies"),
    "travel": (
        "旅行 旅游 去玩 玩了 出差 行程 酒店 机票 轮渡 晕船 民宿 度假 出国",
        "travel travelled traveled trip vacation holiday flight hotel visited honeymoon ferry",
    ),
    "commute": ("地铁 通勤 公交 号线 坐车", "subway commute metro bus train tram"),
    "meeting": ("会议 开会 站会 例会 周会", "meeting meetings standup"),
    "goal": (
        "目标 计划 打算 想存 想考 想学 今年想 希望",
        "goal goals plan plans planning aim aims hope hopes intend",
    ),
    "decision": (
        "决定 选择 换成 改用 代替 放弃 选了 弃用 没上 没选",
        "decided decide chose choose chosen switched instead replaced",
    ),
    "decline": ("推掉 推了 拒绝 拒了 婉拒 回绝 turned_down", "declined rejected"),
    "notify": (
        "通知 提醒 推送 免打扰 勿扰",
        "notify notification notifications remind reminder reminders quiet",
    ),
    "owner": ("谁管 负责 归谁 维护", "owner owns owned responsible charge maintains"),
    "friend": ("朋友 搭子 同学 闺蜜 发小", "friend friends buddy"),
    "roommate": ("室友 舍友 同住 合租", "roommate roommates flatmate flatmates housemate"),
    "neighbour": ("邻居 楼上 楼下", "neighbour neighbours neighbor neighbors"),
    "parcel": (
        "快递 物流 运费 发货 寄 集运",
        "courier shipping ship ships deliver delivery parcel package",
    ),
    "refund": ("退换 可以退 能退 退货 退款 不退", "refund refunds return returns"),
    "mail": ("邮箱 邮件", "email mail"),
    "chat": ("微信 发消息 联系 找他 找她", "wechat whatsapp telegram contact"),
    "key": ("钥匙", "key keys"),
    "lend": ("借给 借了 还我", "lent lend borrowed loan"),
    "shop": ("网店 店铺 开店 店里", "shop store"),
}
"""Matter → parts of a text (Chinese, simplified, and phrases, `_` for a space), and whole English
words. Our list: what people say of themselves, their homes, work, health, tastes, things and plans,
however they are asked."""

_WORD: Final = re.compile("[a-z]+")


class _Told(NamedTuple):
    parts: tuple[str, ...]
    words: frozenset[str]


_MATTERS: Final = {
    name: _Told(tuple(part.replace("_", " ") for part in parts.split()), frozenset(words.split()))
    for name, (parts, words) in _SPOKEN.items()
}


@dataclass(frozen=True, slots=True)
class Common:
    """What matters of a question a text leaves out. *Units:* shares of all that it is about, 0…1;
    both are 0 where it is about none of the table.

    *Shape:* `elsewhere` in others alone; `nowhere` in none of them.
    """

    elsewhere: float = 0.0
    nowhere: float = 0.0


NONE_IN_COMMON: Final = Common()
"""Of a question that is about none of the table."""


def matters_of(text: str) -> frozenset[str]:
    """Return what a text speaks of. *Promise:* never raises; deterministic."""
    return matters_held(_MATTERS.keys(), text)


def matters_held(asked: Set[str], text: str) -> frozenset[str]:
    """Return which of some matters a text speaks of."""
    if not asked:
        return frozenset()
    plain = simplified(text).casefold()
    words = frozenset(_WORD.findall(plain))
    return frozenset(
        name
        for name in asked
        if not words.isdisjoint(_MATTERS[name].words)
        or any(part in plain for part in _MATTERS[name].parts)
    )


def in_common(asked: Set[str], held: Sequence[Set[str]]) -> list[Common]:
    """Return for each text what of a question it leaves out, in the order given.

    *Shape:* `asked` as `matters_of` returns it for the question; `held` for each text which of them
    it speaks of.
    """
    if not asked:
        return [NONE_IN_COMMON] * len(held)
    known = asked & frozenset[str]().union(*held)
    whole = len(asked)
    nowhere = len(asked - known) / whole
    return [Common(len(known - some) / whole, nowhere) for some in held]
