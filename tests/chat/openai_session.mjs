// OpenAI's own client for JavaScript: whole, streamed, with tools; prints what it read as JSON.
import OpenAI from 'openai';

const [baseURL, apiKey] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const model = 'companion';
const ask = (content) => [{ role: 'user', content }];
const tools = [
  {
    type: 'function',
    function: {
      name: 'weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];

const whole = await client.chat.completions.create({ model, messages: ask('你好') });
const stream = await client.chat.completions.create({
  model,
  messages: ask('stream 流'),
  stream: true,
  stream_options: { include_usage: true },
});
let text = '';
let usage = null;
for await (const chunk of stream) {
  text += chunk.choices[0]?.delta?.content ?? '';
  usage = chunk.usage ?? usage;
}
const runner = client.chat.completions.stream({ model, messages: ask('weather?'), tools });
const final = await runner.finalChatCompletion();
const models = [];
for await (const one of client.models.list()) models.push(one.id);
let refused = null;
try {
  await client.chat.completions.create({ model: 'status-429', messages: ask('hi') });
} catch (error) {
  refused = { name: error.constructor.name, status: error.status };
}
let broken = null;
try {
  for await (const _ of await client.chat.completions.create({
    model: 'breaks',
    messages: ask('a longer one'),
    stream: true,
  }));
} catch (error) {
  broken = error.constructor.name;
}
console.log(
  JSON.stringify({
    whole: whole.choices[0].message.content,
    text,
    cached: usage.prompt_tokens_details.cached_tokens,
    call: final.choices[0].message.tool_calls[0].function,
    models,
    refused,
    broken,
  }),
);
