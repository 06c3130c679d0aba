import { createContext, type Context } from 'react';
import type { PayloadPlace, PayloadSource } from './payload-source.ts';

interface PayloadContextValue {
  /** Null where nothing can be read. */
  readonly source: PayloadSource | null;
  readonly place: PayloadPlace;
}

/** The step whose payloads are shown, and where the rest of its texts is read. */
export const PayloadContext: Context<PayloadContextValue> = createContext<PayloadContextValue>({
  source: null,
  place: { step: 0, execution: null, agent: null },
});
