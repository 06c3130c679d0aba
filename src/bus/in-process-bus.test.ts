import { describe, it } from 'vitest';
import { messageBusContract } from '../testing/message-bus-contract.ts';
import { inProcessBus } from './in-process-bus.ts';

describe('the contract of the in-process bus', () => {
  const bus = inProcessBus();
  for (const { name, run } of messageBusContract(() => ({ bus: () => bus }))) it(name, run);
});
