import { words } from "../words";

export const login = words({
  en: {
    title: "Remembrancer",
    about: "The memory that your agents share. Look at it, correct it, take things back.",
    key: "Access key",
    hint: "The key that the server printed when it started, or one made for you.",
    remember: "Stay logged in on this device",
    rememberHint: "Otherwise the key is forgotten with this tab.",
    enter: "Log in",
    wrong: "This key is not known here, or has expired.",
    narrow: "This key may not read memories. The panel needs a key with memory:read.",
    ended: "You were logged out: the key is no longer valid.",
    kept: "What you wrote is kept in this tab: log in to go on.",
    giveUp: "Give it up",
    malformed: "A key has only letters, digits and signs; something else was pasted along.",
  },
  zh: {
    title: "Remembrancer",
    about: "你的智能体共用的记忆：查看、更正、撤回，都由你作主。",
    key: "访问密钥",
    hint: "服务器启动时显示的密钥，或别人为你创建的密钥。",
    remember: "在这台设备上保持登录",
    rememberHint: "不勾选时，关闭标签页就会忘掉密钥。",
    enter: "登录",
    wrong: "这里没有这把密钥，或它已过期。",
    narrow: "这把密钥不能读取记忆。面板需要带有 memory:read 权限的密钥。",
    ended: "已退出登录：密钥已失效。",
    kept: "你写下的内容还在这个标签页里，重新登录即可继续。",
    giveUp: "放弃这些内容",
    malformed: "密钥只含字母、数字和符号，似乎粘贴了多余的内容。",
  },
});
