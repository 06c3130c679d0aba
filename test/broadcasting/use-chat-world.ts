import type { SessionRuntime } from 'onward';
import { type ChatHandlerOptions } from 'onward/broadcasting/use-chat';
import type { MockTool, ScenarioStep } from 'onward/testing';
import { expect } from 'vitest';
import { own } from '../../src/json.ts';
import { gated as gatedTool } from '../setup/approvals.ts';
import {
  agentWith,
  builderWith,
  followingDriver,
  memoryPlace,
  runtimeOn,
} from '../setup/sessions.ts';
import { handlerOn, says, type Handler, type OnwardUIMessage } from './use-chat-setup.ts';

export const gated = (): MockTool => gatedTool('pay', { paid: true });
/** Returns the body of a new message. */
export const submit = (
  text: string,
  id?: string,
): { readonly id: string; readonly messages: readonly object[] } => ({
  id: 'chat-1',
  messages: [says(text, id)],
});

/** Creates a chat with these turns of the model. */
export function world(
  turns: readonly (readonly ScenarioStep[])[],
  options: Partial<ChatHandlerOptions> = {},
  ...tools: Parameters<typeof agentWith> extends [unknown, ...infer T] ? T : never
): { readonly runtime: SessionRuntime; readonly handler: Handler } {
  const agent = builderWith(followingDriver(...turns), ...tools).build();
  const runtime = runtimeOn(memoryPlace().open(), agent);
  return { runtime, handler: handlerOn(runtime, options) };
}

/** Returns the status and code of an error response, and checks that it has nothing else. */
export const errorIn = async (response: Response): Promise<[number, string]> => {
  expect(response.headers.get('content-type')).toContain('application/json');
  const { error: refused } = (await response.json()) as {
    error: { code: string; message: string };
  };
  expect(Object.keys(refused).toSorted()).toEqual(['code', 'message']);
  return [response.status, refused.code];
};

/** Returns the client's message after the user's answers. */
export function answered(
  message: OnwardUIMessage,
  answers: Record<string, { approved: boolean; reason?: string }>,
): OnwardUIMessage {
  const parts = message.parts.map((part) => {
    const given = 'toolCallId' in part ? own(answers, part.toolCallId) : undefined;
    if (!given || !('approval' in part) || !part.approval) return part;
    return { ...part, state: 'approval-responded', approval: { ...part.approval, ...given } };
  });
  return { ...message, parts } as OnwardUIMessage;
}
