import { AgentState, type AgentStateJSON } from '../agent/agent-state.ts';
import { invalidOption } from '../errors/agent-error.ts';
import { defaultRedactor, type Redactor } from '../errors/redactor.ts';
import { fitBytes } from './fit-bytes.ts';
import { readSlimState } from './read-slim-state.ts';
import { StateRedactor } from './state-redactor.ts';
import { checkedConfig, type SlimSerializationConfig } from './slim-serialization-config.ts';
import type { SlimState } from './slim-state.ts';
import { writeSlimState } from './write-slim-state.ts';

/** Converts a state to a document for a store or a UI, and back. */
export interface AgentStateSerializer<Document = SlimState> {
  serialize(state: AgentState | AgentStateJSON): Document;
  /** Takes the document or its JSON text. */
  deserialize(json: unknown): AgentState;
}

/** Writes a bounded, redacted form of a state. Options default to `standard()`. */
export class SlimAgentStateSerializer implements AgentStateSerializer {
  readonly #config: ReturnType<typeof checkedConfig>;
  readonly #redactor: Redactor | null;

  /** With `redactor: null` the document contains secrets: use it only with a store that may hold them. */
  constructor(
    config: Partial<SlimSerializationConfig> = {},
    { redactor = defaultRedactor }: { readonly redactor?: Redactor | null } = {},
  ) {
    if (redactor !== null && typeof redactor?.value !== 'function')
      throw invalidOption('SlimAgentStateSerializer redactor', redactor, 'a redactor or null');
    this.#config = checkedConfig(config);
    this.#redactor = redactor;
  }

  serialize(state: AgentState | AgentStateJSON): SlimState {
    const { maxBytes, ...limits } = this.#config;
    const whole = AgentState.from(state);
    const redactor = new StateRedactor(this.#redactor);
    const write = (tighter: typeof limits) => writeSlimState(whole, tighter, redactor);
    return maxBytes === null ? write(limits) : fitBytes(write, limits, maxBytes);
  }

  /** Revives a state that accepts a new turn. An open execution can be resumed only if no data is missing. */
  deserialize(json: unknown): AgentState {
    return readSlimState(json);
  }
}
