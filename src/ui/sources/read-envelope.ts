import type { Envelope, EnvelopeType } from '../../broadcasting/envelope.ts';
import { isRecord } from '../../json.ts';

/** Written as a record, so that a new type of envelope cannot be forgotten here. */
const known: Readonly<Record<EnvelopeType, true>> = {
  'agent.status': true,
  'agent.message': true,
  'agent.step.started': true,
  'agent.step.completed': true,
  'agent.tool.started': true,
  'agent.tool.completed': true,
  'agent.approval.requested': true,
  'agent.continuation': true,
  'agent.stream.chunk': true,
  'agent.stream.discarded': true,
  'agent.tool.delta': true,
};

export const envelopeTypes: readonly EnvelopeType[] = Object.keys(known) as EnvelopeType[];

export const isEnvelopeType = (type: string): type is EnvelopeType => Object.hasOwn(known, type);

/** What came over a wire as an envelope, or null where it is none; the payload is taken on trust. */
export const readEnvelope = (value: unknown): Envelope | null =>
  isRecord(value) &&
  typeof value['type'] === 'string' &&
  isEnvelopeType(value['type']) &&
  typeof value['session_id'] === 'string' &&
  typeof value['execution_id'] === 'string' &&
  (value['seq'] === null || typeof value['seq'] === 'number') &&
  isRecord(value['payload'])
    ? (value as unknown as Envelope) // checked above as far as a reader needs
    : null;
