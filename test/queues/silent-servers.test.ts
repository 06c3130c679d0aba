import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { describeServers } from '../setup/bull-servers.ts';
import { bundledProgram, startChild, type Child } from '../setup/child-program.ts';
import { workWith } from '../setup/queue-work.ts';
import { tcpProxy, type TcpProxy } from '../setup/tcp-proxy.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

describeServers('connections to a shared queue', (server, newQueues) => {
  let proxy: TcpProxy;
  beforeEach(async () => {
    proxy = await tcpProxy(server().url);
  });
  afterEach(() => proxy.close());

  it('are replaced when they go silent', async () => {
    const open = newQueues();
    const [sender, queue] = [open({ connection: proxy.url }), open({ connection: proxy.url })];
    const worker = workWith(queue, { ms: 0 });
    await sender.add('before');
    await expect.poll(() => worker.began).toEqual(['before']);
    proxy.silenceAll();
    await sender.add('meanwhile');
    await expect.poll(() => worker.began, { timeout: 30_000 }).toEqual(['before', 'meanwhile']);
    expect([sender.errors.length, queue.errors.length]).toEqual([1, 1]);
  });

  it('are retried if the server accepts them but never answers', async () => {
    proxy.swallow();
    const queue = newQueues()({ connection: proxy.url });
    const worker = workWith(queue, { ms: 0 });
    await expect.poll(() => queue.errors.length, { timeout: 30_000 }).toBe(1);
    proxy.accept();
    await queue.add('s');
    await expect.poll(() => worker.began).toEqual(['s']);
  });

  const program = async (): Promise<Child> => {
    const file = await bundledProgram('test/setup/queue-program.ts');
    const child = startChild(file, [proxy.url, `queue_program_${programs++}`]);
    onTestFinished(() => void child.process.kill('SIGKILL'));
    return child;
  };
  const ended = async (child: Child): Promise<void> => {
    child.process.kill('SIGTERM');
    expect(await child.gone).toEqual([0, null]);
    expect(child.lines.at(-1)).toBe('drained');
  };

  it('do not keep a process running after drain', async () => {
    const child = await program();
    await child.said('began s');
    await ended(child);
  });

  it('do not keep a process running after drain, even if they are silent', async () => {
    const child = await program();
    await child.said('began s');
    proxy.silenceAll();
    proxy.swallow();
    await ended(child);
  });

  it('do not keep a process running that never connected', async () => {
    proxy.swallow();
    const connecting = await program();
    await connecting.said('opened');
    proxy.refuse();
    const refused = await program();
    await refused.said('AgentError: The queue on');
    await Promise.all([ended(connecting), ended(refused)]);
  });
});
let programs = 0;
