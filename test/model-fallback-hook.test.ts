import { AgentBuilder, type Hook, type InferenceDriver } from 'onward';
import { describe, expect, it } from 'vitest';
import { takesAnotherTurn } from './setup/states.ts';

describe('a hook that falls back to another model', () => {
  const fallback = (): InferenceDriver => {
    let calls = 0;
    return {
      name: 'flaky',
      infer: () => new Promise(() => {}),
      async *stream() {
        if (++calls === 1) {
          yield { type: 'content', text: 'Half an ans' };
          throw new Error('socket closed');
        }
        yield { type: 'content', text: 'A whole ' };
        yield { type: 'content', text: 'answer.' };
        const response = { content: 'A whole answer.', toolCalls: [], finishReason: 'stop' };
        yield { type: 'done', response: { ...response, usage: null } };
      },
    };
  };
  const again: Hook = {
    name: 'fallback',
    async aroundModelCall(request, next) {
      try {
        return await next(request);
      } catch {
        return next(request);
      }
    },
  };

  it('discards the streamed text of the first model', async () => {
    const agent = AgentBuilder.base().withDriver(fallback()).withHooks(again).build();
    let shown = '';
    const state = await agent.run('go', {
      wiretap: (e) => {
        if (e.type === 'StreamChunk') shown += e.content;
        if (e.type === 'StreamDiscarded') shown = '';
      },
    });
    expect(state).toMatchObject({ status: 'completed', output: 'A whole answer.', stepCount: 1 });
    expect(shown).toBe('A whole answer.');
  });

  it('an abort in the second call keeps only its text', async () => {
    const controller = new AbortController();
    const agent = AgentBuilder.base().withDriver(fallback()).withHooks(again).build();
    const state = await agent.run('go', {
      signal: controller.signal,
      wiretap: (e) => {
        if (e.type === 'StreamChunk' && e.content === 'A whole ') controller.abort();
      },
    });
    expect(state).toMatchObject({ status: 'stopped', outputText: 'A whole ' });
    await takesAnotherTurn(state);
  });
});
