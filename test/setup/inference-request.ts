import { Messages } from 'onward';
import type { InferenceRequest } from 'onward/drivers';

/** A plain request to a model. */
export const requestOf = (more: Partial<InferenceRequest> = {}): InferenceRequest => ({
  system: null,
  messages: Messages.from([{ role: 'user', content: 'hi' }]),
  tools: [],
  toolChoice: 'auto',
  responseFormat: null,
  ...more,
});
