import { AgentBuilder, SessionRuntime } from 'onward';
import { keyValueStore } from 'onward/stores/key-value';
import { DeterministicDriver } from 'onward/testing';
import { expect, it, onTestFinished } from 'vitest';
import { mapDriver } from '../setup/key-values.ts';
import { HOUR } from '../setup/lease-clocks.ts';
import { ann, clientOn } from '../setup/sessions.ts';

const lease = { leaseMs: 300, heartbeatMs: 100, signalMs: 100 };

it.each([1, 2])(
  'a runtime takes over the session of %d dead workers even if the clock of the store was set back by an hour',
  async (deaths) => {
    let ahead = 0;
    const driver = { ...mapDriver(), now: async () => Date.now() + ahead };
    const model = DeterministicDriver.fromResponses('done');
    const agent = AgentBuilder.base().withName('support').withDriver(model).build();
    const store = keyValueStore(driver);
    const client = clientOn(store, agent);
    const { id } = await client.create(ann);
    await client.send(id, 'go', ann);
    for (let n = 1; n <= deaths; n++) {
      await expect
        .poll(() => store.claim(id, { worker: `dead-${n}`, ttlMs: lease.leaseMs }))
        .not.toBeNull();
    }
    ahead = -HOUR;
    const heir = new SessionRuntime({ store: keyValueStore(driver), agents: [agent], lease });
    onTestFinished(() => heir.close());
    heir.start();
    await expect
      .poll(async () => (await heir.get(id, ann)).status, { timeout: 20_000 })
      .toBe('completed');
  },
);
