/** Our entry in the harness that measures other frameworks; `peers.mjs` copies it beside the others. */
import { load, main, PROMPT, TOOL } from './_harness.mjs';

await main({
  name: 'onward',
  variants: ['run'],
  packages: [],
  imports: [],
  async setup({ ctx, limit }) {
    const { AgentBuilder, defineTool, z } = await load('onward');
    const usage = { input: 10, output: 5, total: 15 };
    const model = {
      name: 'scripted',
      async infer({ messages }, options) {
        if (ctx.latency) await ctx.wait();
        const n = (messages.length - 1) / 2;
        if (ctx.hangAt >= 0) await ctx.hang(n, options.signal);
        const { tool, id, args, text } = ctx.decide(n);
        if (tool === undefined)
          return { content: text, toolCalls: [], finishReason: ctx.finish, usage };
        const call = { id, name: tool, argsRaw: JSON.stringify(args) };
        return { content: '', toolCalls: [call], finishReason: 'tool_calls', usage };
      },
      async *stream(request, options) {
        const response = await model.infer(request, options);
        let content = '';
        for (let i = 0; response.toolCalls.length === 0 && i < ctx.deltas; i++) {
          const text = ctx.delta(i);
          content += text;
          yield { type: 'content', text };
        }
        yield { type: 'done', response: { ...response, content } };
      },
    };
    const agent = AgentBuilder.base()
      .withDriver(model)
      .withMaxSteps(limit)
      .withTools(
        defineTool({
          name: TOOL.name,
          description: TOOL.description,
          parameters: z.object({ a: z.number(), b: z.number() }),
          execute: async (args) => ctx.add(args),
        }),
      )
      .build();
    return {
      run: async () => (await agent.run(PROMPT)).output,
      stream: async () => {
        let seen = 0;
        for await (const event of agent.stream(PROMPT)) if (event.type === 'StreamChunk') seen += 1;
        return seen;
      },
      persist: async () => ({
        'JSON: state': Buffer.byteLength(JSON.stringify(await agent.run(PROMPT))),
      }),
      stopRun: (options) => agent.run(PROMPT, options),
      describe: (state) => ({
        status: state.status,
        stopReason: state.stopReason,
        why: state.lastContinuationOutcome.explain(),
      }),
    };
  },
});
