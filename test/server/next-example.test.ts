import { describe, expect, it } from 'vitest';
import { nextApp } from '../setup/next-app.ts';
import { holdsConversation, type Dialogue } from './node-example.ts';

const app = nextApp('server-next');

const dialogue = (url: string): Dialogue => ({
  url,
  headers: { 'x-user': 'ada' },
  others: { 'x-user': 'ben' },
  message: 'Publish "Spring"',
  tool: 'publish',
  answer: 'Done: "Spring" is on the front page.',
});

describe('the Next example', () => {
  it('builds, types included, and holds a conversation with an approval', async () => {
    const built = app.build();
    expect([built.status, built.stdout + built.stderr]).toEqual([
      0,
      expect.stringContaining('/api/[...path]'),
    ]);
    const { url } = await app.serve('start');
    await holdsConversation(dialogue(url));
    expect((await fetch(`${url}/api/nothing`)).status).toBe(404);
  }, 240_000);

  it('also while it is developed', async () => {
    const { url } = await app.serve('dev');
    await holdsConversation(dialogue(url));
  }, 240_000);
});
