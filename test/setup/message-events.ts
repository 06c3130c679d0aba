import {
  AgentBuilder,
  ErrorPolicy,
  type AgentEvent,
  type AgentState,
  type EventOf,
  type InferenceDriver,
  type RunOptions,
} from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';

export const quick: ErrorPolicy = ErrorPolicy.retryAll().withBackoff({ initialMs: 1, maxMs: 1 });

export const builder = (...steps: readonly (ScenarioStep | string)[]): AgentBuilder =>
  driven(DeterministicDriver.fromSteps(...steps));

export const driven = (driver: InferenceDriver): AgentBuilder =>
  AgentBuilder.base().withName('shop').withDriver(driver);

export class Received {
  readonly events: AgentEvent[] = [];
  readonly options: RunOptions = { wiretap: (event) => void this.events.push(event) };

  of<T extends AgentEvent['type']>(type: T): EventOf<T>[] {
    return this.events.filter((e): e is AgentEvent & EventOf<T> => e.type === type);
  }
  get reported(): string[] {
    return this.of('MessageAdded').map((e) => `${e.stepNumber} ${e.role}: ${e.content}`);
  }
  get types(): string[] {
    return this.events.map(({ type }) => type);
  }
}

/** The conversation without tool and synthetic messages. */
export const spoken = ({
  messages,
}: AgentState): { messageId: string; role: string; content: string }[] =>
  [...messages]
    .filter((m) => (m.isUser() && m.metadata['synthetic'] !== true) || m.isAssistant())
    .filter((m) => m.text.trim() !== '')
    .map(({ id, role, text }) => ({ messageId: id, role, content: text }));
