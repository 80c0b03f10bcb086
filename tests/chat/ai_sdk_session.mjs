// Vercel's AI SDK over its OpenAI-compatible provider, which checks every chunk by a schema.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';

const [baseURL, apiKey] = process.argv.slice(2);
const provider = createOpenAICompatible({ name: 'remembrancer', baseURL, apiKey });
const model = provider('companion');

const whole = await generateText({ model, prompt: '你好' });
const streamed = streamText({ model, prompt: 'stream 流' });
let text = '';
for await (const piece of streamed.textStream) text += piece;
const weather = tool({
  description: 'The weather of a city',
  inputSchema: jsonSchema({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  }),
  execute: async ({ city }) => `rain in ${city}`,
});
const looped = streamText({
  model,
  prompt: 'weather 天气?',
  tools: { weather },
  stopWhen: stepCountIs(3),
});
let after = '';
for await (const piece of looped.textStream) after += piece;
const steps = await looped.steps;
console.log(
  JSON.stringify({
    whole: whole.text,
    text,
    after,
    results: steps.flatMap((step) => step.toolResults.map((one) => one.output)),
    tokens: (await streamed.usage).totalTokens ?? null,
  }),
);
