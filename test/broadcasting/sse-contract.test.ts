import { channelOf, sseHub } from 'onward/broadcasting';
import { describe, it } from 'vitest';
import {
  broadcasterContract,
  type BroadcasterHarness,
} from '../../src/testing/broadcaster-contract.ts';
import { SseClient } from '../setup/sse.ts';

function harness(): BroadcasterHarness {
  const hub = sseHub();
  return {
    broadcaster: hub,
    async read(channel) {
      const client = new SseClient(await hub.open(channel.slice(channelOf('').length)));
      return async () => {
        hub.close();
        await client.until(() => false);
        return client.envelopes;
      };
    },
  };
}

describe('sseHub passes the broadcaster contract', () => {
  for (const [i, { name }] of broadcasterContract(harness).entries())
    it(name, () => broadcasterContract(harness)[i]?.run());
});
