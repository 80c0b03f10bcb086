import type { Language } from "../words";

/** What health says in English, and the same in Chinese; what is not here stays as it is. */
const CHINESE: [RegExp, string][] = [
  [/^a rebuild has begun and not ended.*$/, "有一次重建没有完成，请再运行一次以继续"],
  [/^the cache does not answer.*$/, "缓存没有响应，读取会慢一些，但结果仍然正确"],
  [
    /^the vectors are behind: a change waits for (\d+) minutes.*$/,
    "向量有积压：一处更改已等待 $1 分钟，暂时只能按字面找到",
  ],
  [/^the database is damaged: (.+)$/, "数据库已损坏（$1）：请停下服务器，用备份恢复"],
  [/^the embedder's quota is spent.*$/, "向量模型的额度已用完，稍后会再试"],
  [/^the job '(.+)' has failed for (\d+) minutes$/, "后台任务 $1 已连续出错 $2 分钟"],
  [/^the job '(.+)' (?:is dead|was given up).*$/, "后台任务 $1 多次出错，已停止重试"],
  [/^extraction is behind: a message waits for (\d+) hours$/, "提取有积压：一条消息已等待 $1 小时"],
  [
    /^the nights are behind: a message waits for (\d+) hours$/,
    "夜间整理有积压：一条消息已等待 $1 小时",
  ],
  [
    /^retention is behind: a message is kept for (\d+) hours$/,
    "清理有积压：一条消息已保留 $1 小时",
  ],
  [/^a model refused (\d+) messages?.*$/, "模型拒绝了 $1 条消息：可在“后台任务”里重试或放过"],
];

export function reasonIn(language: Language, reason: string): string {
  if (language !== "zh") return reason;
  const found = CHINESE.find(([english]) => english.test(reason));
  return found ? reason.replace(found[0], found[1]) : reason;
}
