// @vitest-environment happy-dom
import { act, cleanup, render, renderHook, screen, waitFor } from '@testing-library/react';
import { StrictMode, type ReactElement, type ReactNode } from 'react';
import { renderToString } from 'react-dom/server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { useAgentSession } from '../../src/react/index.ts';
import type { UiMessage } from '../../src/ui/ui-message.ts';
import { fakeSource, Wire } from './fake-source.ts';

afterEach(cleanup);

const schedule = (flush: () => void): (() => void) => {
  const timer = setTimeout(() => act(flush));
  return () => clearTimeout(timer);
};
const strict = ({ children }: { children: ReactNode }): ReactElement => (
  <StrictMode>{children}</StrictMode>
);

const before: UiMessage = {
  id: 'old',
  role: 'user',
  content: 'from before',
  timestamp: '',
  metadata: {},
};

describe('useAgentSession', () => {
  it('shows envelopes of the source, connects once in strict mode, and disconnects on unmount', async () => {
    const { source, sink, opened, closed } = fakeSource();
    const { result, unmount } = renderHook(() => useAgentSession({ source, schedule }), {
      wrapper: strict,
    });
    const wire = new Wire();
    act(() => {
      sink().envelope(wire.started());
      sink().envelope(wire.user('hi'));
      sink().envelope(wire.says('hello'));
    });
    await waitFor(() => expect(result.current.messages.at(-1)?.content).toBe('Thinking…'));
    expect(result.current.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'status',
    ]);
    expect(result.current).toMatchObject({
      status: 'processing',
      connection: 'live',
      error: null,
      stop: null,
    });
    act(() => sink().envelope(wire.ends('completed')));
    await waitFor(() => expect(result.current.stop?.stop_reason).toBe('completed'));
    expect([opened(), closed()]).toEqual([1, 0]);
    unmount();
    await waitFor(() => expect(closed()).toBe(1));
  });

  it('renders the history on the server and hydrates it without errors', async () => {
    const { source, opened } = fakeSource();
    const Screen = (): ReactElement => {
      const { messages, status } = useAgentSession({ source, history: [before], schedule });
      return <p>{`${status}: ${messages.map(({ content }) => content).join()}`}</p>;
    };
    const html = renderToString(<Screen />);
    expect(html).toBe('<p>idle: from before</p>');
    expect(opened()).toBe(0);
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
    const container = document.createElement('div');
    container.innerHTML = html;
    document.body.append(container);
    render(<Screen />, { container, hydrate: true });
    await waitFor(() => expect(opened()).toBe(1));
    expect(errors).not.toHaveBeenCalled();
    errors.mockRestore();
  });

  it('keeps the connection for a new source with the same key, and reconnects for another key', async () => {
    const made: ReturnType<typeof fakeSource>[] = [];
    const { result, rerender } = renderHook(
      ({ id }: { id: string }) => {
        const fake = fakeSource({ key: id });
        made.push(fake);
        return useAgentSession({ source: fake.source, schedule });
      },
      { initialProps: { id: 'a' } },
    );
    rerender({ id: 'a' });
    rerender({ id: 'a' });
    expect(made.reduce((sum, fake) => sum + fake.opened(), 0)).toBe(1);
    const first = made.find((fake) => fake.opened() === 1)!;
    act(() => first.sink().envelope(new Wire().started()));
    await waitFor(() => expect(result.current.status).toBe('processing'));
    rerender({ id: 'b' });
    expect(result.current.status).toBe('idle');
    await waitFor(() => expect(first.closed()).toBe(1));
    expect(made.reduce((sum, fake) => sum + fake.opened(), 0)).toBe(2);
  });

  it('is offline without a source', () => {
    const { result } = renderHook(() => useAgentSession({ source: null, history: [before] }));
    expect(result.current).toMatchObject({
      status: 'idle',
      connection: 'offline',
      messages: [before],
    });
  });

  it('passes the same state to a child, and keeps its functions stable', async () => {
    const { source, sink } = fakeSource();
    const seen: string[] = [];
    const Child = ({ status }: { status: string }): null => {
      seen.push(status);
      return null;
    };
    const functions = new Set<unknown>();
    const Parent = (): ReactElement => {
      const session = useAgentSession({ source, schedule });
      functions.add(session.send).add(session.approve);
      return (
        <>
          <Child status={session.status} />
          <p>{session.status}</p>
        </>
      );
    };
    render(<Parent />);
    act(() => sink().envelope(new Wire().started()));
    expect(await screen.findByText('processing')).toBeTruthy();
    expect(seen.at(-1)).toBe('processing');
    expect(functions.size).toBe(2);
  });

  it('shows a sent message immediately until the message of the server replaces it', async () => {
    const { source, sink } = fakeSource();
    const send = vi.fn(async () => ({}));
    const { result } = renderHook(() => useAgentSession({ source, schedule, actions: { send } }));
    await act(() => result.current.send('hi'));
    expect(result.current.messages).toMatchObject([
      { role: 'user', content: 'hi', metadata: { pending: true } },
    ]);
    expect(send).toHaveBeenCalledWith('hi', { id: result.current.messages[0]!.id });
    const wire = new Wire();
    act(() => {
      sink().envelope(wire.started());
      sink().envelope(wire.user('hi', 'msg_real'));
    });
    await waitFor(() => expect(result.current.messages[0]?.id).toBe('msg_real'));
    expect(result.current.messages.filter(({ role }) => role === 'user')).toHaveLength(1);
    expect(result.current.actions).toEqual([]);
  });

  it('keeps an unsent message, which can be retried with the same id or dismissed', async () => {
    const { source } = fakeSource();
    const send = vi.fn<(text: string, options: { id: string }) => Promise<unknown>>();
    send
      .mockRejectedValueOnce(new Error('offline'))
      .mockRejectedValueOnce(new Error('still'))
      .mockResolvedValue({});
    const { result } = renderHook(() => useAgentSession({ source, schedule, actions: { send } }));
    expect(await act(() => result.current.send('hi'))).toBe(false);
    const [failed] = result.current.actions;
    expect(failed).toMatchObject({ kind: 'send', status: 'failed', error: { message: 'offline' } });
    expect(result.current.messages).toHaveLength(1);
    await act(() => result.current.retry(failed!.id));
    expect(result.current.actions[0]?.error?.message).toBe('still');
    expect(await act(() => result.current.retry(failed!.id))).toBe(true);
    expect(new Set(send.mock.calls.map(([, { id }]) => id)).size).toBe(1);
    expect(result.current.messages).toHaveLength(1);

    send.mockRejectedValueOnce(new Error('no'));
    await act(() => result.current.send('second'));
    act(() => result.current.dismiss(result.current.actions[0]!.id));
    expect(result.current.actions).toEqual([]);
    expect(result.current.messages.map(({ content }) => content)).toEqual(['hi']);
  });

  it('ignores a second click during an action, and sends no blank message', async () => {
    const { source } = fakeSource();
    const approve = vi.fn(() => new Promise(() => {}));
    const send = vi.fn(async () => {});
    const { result } = renderHook(() =>
      useAgentSession({ source, schedule, actions: { approve, send } }),
    );
    act(() => void result.current.approve('call_1', { id: 7 }));
    act(() => void result.current.approve('call_1'));
    await act(() => result.current.send('  \n'));
    expect(approve).toHaveBeenCalledExactlyOnceWith('call_1', { id: 7 });
    expect(send).not.toHaveBeenCalled();
    expect(result.current.can).toEqual({
      send: true,
      approve: true,
      approveAll: false,
      deny: false,
      answer: false,
      stop: false,
      resume: false,
      retry: false,
    });
  });

  it('approves all visible calls as they were shown', async () => {
    const { source, sink } = fakeSource();
    const approveAll = vi.fn(async () => undefined);
    const { result } = renderHook(() =>
      useAgentSession({ source, schedule, actions: { approveAll } }),
    );
    const wire = new Wire('exe_1');
    expect(await result.current.approveAll()).toBe(false);
    act(() => {
      sink().envelope(wire.started());
      for (const id of ['c1', 'c2']) {
        const asked = wire.asks('pay', id, {});
        sink().envelope({ ...asked, payload: { ...asked.payload, args_hash: `hash-${id}` } });
      }
    });
    await waitFor(() => expect(result.current.approvals).toHaveLength(2));
    await act(() => result.current.approveAll());
    expect(approveAll).toHaveBeenCalledExactlyOnceWith([
      { callId: 'c1', executionId: 'exe_1', argsHash: 'hash-c1' },
      { callId: 'c2', executionId: 'exe_1', argsHash: 'hash-c2' },
    ]);
  });

  it('D91: sends the execution and hash that were shown, also in a retry', async () => {
    const { source, sink } = fakeSource();
    const approve = vi.fn().mockRejectedValueOnce(new Error('no')).mockResolvedValue(null);
    const deny = vi.fn(async () => {});
    const { result } = renderHook(() =>
      useAgentSession({ source, schedule, actions: { approve, deny } }),
    );
    const ask = (wire: Wire, args_hash: string) => {
      const asked = wire.asks('pay', 'c1', { n: 1 });
      act(() => {
        sink().envelope(wire.started());
        sink().envelope({ ...asked, payload: { ...asked.payload, args_hash } });
      });
    };
    ask(new Wire('exe_1'), 'hash-1');
    await waitFor(() => expect(result.current.approvals).toHaveLength(1));
    expect(result.current.approvals[0]).toMatchObject({ args_hash: 'hash-1' });
    await act(() => result.current.approve('c1'));
    const first = { executionId: 'exe_1', argsHash: 'hash-1' };
    expect(approve).toHaveBeenLastCalledWith('c1', undefined, first);
    ask(new Wire('exe_2'), 'hash-2');
    await waitFor(() => expect(result.current.approvals[0]?.execution_id).toBe('exe_2'));
    await act(() => result.current.retry(result.current.actions[0]!.id));
    expect(approve).toHaveBeenLastCalledWith('c1', undefined, first);
    await act(() => result.current.deny('c1', 'no'));
    expect(deny).toHaveBeenCalledWith('c1', 'no', { executionId: 'exe_2', argsHash: 'hash-2' });
  });

  it('uses the actions of the newest render', async () => {
    const { source } = fakeSource();
    const calls: number[] = [];
    const { result, rerender } = renderHook(
      ({ n }: { n: number }) =>
        useAgentSession({ source, schedule, actions: { stop: async () => calls.push(n) } }),
      { initialProps: { n: 1 } },
    );
    rerender({ n: 2 });
    await act(() => result.current.stopRun());
    expect(calls).toEqual([2]);
  });
});
