import { found, holds, same } from './expect.ts';
import { subAgent } from './finished-session.ts';
import { call, event, type Held, message, type HarnessCase, root, step } from './store-harness.ts';

export const sizeCases: readonly HarnessCase[] = [
  {
    name: 'size counts the rows of a session and the bytes of their texts',
    async run({ store, held }) {
      const { id, commit } = await held();
      const start = await store.size(id);
      same(start.rows, 2, 'the rows of a session and its command');
      const grown = async (parts: Parameters<Held['commit']>[0]): Promise<[number, number]> => {
        const before = await store.size(id);
        await commit(parts);
        const after = await store.size(id);
        return [after.rows - before.rows, after.bytes - before.bytes];
      };
      const body = 'ü'.repeat(5000);
      const [rows, bytes] = await grown({
        messages: [message(0, { body }), message(1, { body })],
        steps: [step(0, { body, mark: body })],
        agents: [{ ...subAgent, head: body }],
        calls: [call('a', 'committed', { result: body })],
        events: [event(1, { body })],
        blobs: [{ scope: '', hash: 'h', body }],
      });
      same(rows, 7, 'how many rows it grew');
      const least = 8 * 10_000;
      holds(bytes >= least && bytes < least + 2000, `it grew about ${least} bytes, not ${bytes}`);
      const { number: done } = found(await store.nextCommand(id), 'the command');
      same((await grown({ done }))[0], -1, 'how many rows it grew when the command went');
    },
  },
  {
    name: 'D38: the size of a commit does not depend on the number of earlier ones',
    async run({ store, held }) {
      const { id, commit } = await held();
      const added: number[] = [];
      for (let n = 0; n < 30; n++) {
        const before = await store.size(id);
        await commit({
          root: root({ messageCount: 10 + n, stepCount: 10 + n }),
          seq: 10 + n,
          messages: [message(10 + n)],
          steps: [step(10 + n)],
          events: [event(10 + n)],
        });
        added.push((await store.size(id)).bytes - before.bytes);
      }
      same(new Set(added.slice(1)).size, 1, 'how many different sizes equal commits have');
    },
  },
];
