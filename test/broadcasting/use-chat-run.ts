import type { AgentBuilder } from 'onward';
import { uiMessageStream, type UiMessageChunk } from 'onward/broadcasting/use-chat';
import { DeterministicDriver, type ScenarioStep } from 'onward/testing';
import { all, readBy } from './use-chat-setup.ts';

export const script = (...steps: readonly ScenarioStep[]): DeterministicDriver =>
  DeterministicDriver.fromSteps(...steps);

/** Runs the agent and returns the chunks of a client. */
export const chunksOfRun = (builder: AgentBuilder): Promise<UiMessageChunk[]> =>
  all(uiMessageStream(builder.build().stream('go'), { messageId: 'm1' }));

export const typesOf = (chunks: readonly UiMessageChunk[]): string[] =>
  chunks.map(({ type }) => type);

/** Runs the agent and returns the client's message. */
export const readRun = async (builder: AgentBuilder): ReturnType<typeof readBy> =>
  readBy(await chunksOfRun(builder));
