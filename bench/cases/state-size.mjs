import { onwardLoop } from '../scenario.mjs';

const bytes = (value) => Buffer.byteLength(JSON.stringify(value));

/** What a state weighs as JSON after a long run: whole, and slim where the serializer is there. */
export async function* stateSize() {
  const { SlimAgentStateSerializer: Slim, SlimSerializationConfig: Config } =
    await import('onward');
  for (const steps of [100, 1000]) {
    const state = await onwardLoop(steps)();
    const full = bytes(state);
    const messages = bytes(state.messages);
    const slim =
      Slim && Config
        ? Object.fromEntries(
            ['minimal', 'standard'].map((preset) => [
              `slim_${preset}_bytes`,
              bytes(new Slim(Config[preset]()).serialize(state)),
            ]),
          )
        : { slim: 'not exported' };
    yield {
      case: 'state',
      steps,
      full_bytes: full,
      full_bytes_per_step: Math.round(full / steps),
      messages_bytes: messages,
      ...slim,
    };
  }
}
