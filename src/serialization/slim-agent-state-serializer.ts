import { AgentState, type AgentStateJSON } from '../agent/agent-state.ts';
import { invalidOption } from '../errors/agent-error.ts';
import { defaultRedactor, type Redactor } from '../errors/redactor.ts';
import { fitBytes } from './fit-bytes.ts';
import { readSlimState } from './read-slim-state.ts';
import { StateRedactor } from './state-redactor.ts';
import { checkedConfig, type SlimSerializationConfig } from './slim-serialization-config.ts';
import type { SlimState } from './slim-state.ts';
import { writeSlimState } from './write-slim-state.ts';

/** Turns a state into a document that is stored or shown, and back. */
export interface AgentStateSerializer<Document = SlimState> {
  serialize(state: AgentState | AgentStateJSON): Document;
  /** Takes the document or its JSON text. */
  deserialize(json: unknown): AgentState;
}

/** A bounded, redacted form of a state; what is not set in the config is as in `standard()`. */
export class SlimAgentStateSerializer implements AgentStateSerializer {
  readonly #config: ReturnType<typeof checkedConfig>;
  readonly #redactor: Redactor | null;

  /** `redactor: null` keeps secrets in: only for a store that is as safe as the state itself has to be. */
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

  /** Always ready for a new turn; an open execution can be resumed only if nothing it needs was left out. */
  deserialize(json: unknown): AgentState {
    return readSlimState(json);
  }
}
