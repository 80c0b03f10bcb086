import { words } from "../words";

const COUNTED: Record<string, [string, string]> = {
  messages_redacted: ["message", "messages"],
  pages_redacted: ["page of the diary", "pages of the diary"],
  candidates_removed: ["candidate", "candidates"],
  questions_redacted: ["question", "questions"],
  turns_dropped: ["turn of a chat", "turns of chats"],
  relations_removed: ["relation", "relations"],
};

const COUNTED_ZH: Record<string, [string, string]> = {
  messages_redacted: ["条", "消息"],
  pages_redacted: ["页", "日记"],
  candidates_removed: ["条", "候选"],
  questions_redacted: ["个", "提问"],
  turns_dropped: ["轮", "对话的缓存"],
  relations_removed: ["条", "关联"],
};

export const forget = words({
  en: {
    elsewhere: "It is also said here; these passages go with it:",
    nowhere: "It is said nowhere else.",
    also: "In all:",
    count: (name: string, n: number) => {
      const [one, many] = COUNTED[name] ?? [name, name];
      return `${n} ${n === 1 ? one : many}`;
    },
    places: {
      message: "message",
      page: "diary",
      digest: "digest",
      notes: "notes",
      candidate: "candidate",
      question: "question",
    },
    more: (n: number) => `and ${n} more`,
  },
  zh: {
    elsewhere: "这些地方也说到它，相应的文字会一起消失：",
    nowhere: "别处没有说到它。",
    also: "合计：",
    count: (name: string, n: number) => {
      const [unit, what] = COUNTED_ZH[name] ?? ["", name];
      return `${n} ${unit}${what}`;
    },
    places: {
      message: "消息",
      page: "日记",
      digest: "摘要",
      notes: "笔记",
      candidate: "候选",
      question: "提问",
    },
    more: (n: number) => `另有 ${n} 处`,
  },
});
