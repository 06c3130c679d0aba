import type { SessionStore } from 'onward/stores';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  places,
  runtimeOn,
  until,
} from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;

/** Wraps a store that stops answering once its process is dead. */
function mortal(store: SessionStore, isDead: () => boolean): SessionStore {
  return new Proxy(store, {
    get(target, name: keyof SessionStore) {
      const value = target[name];
      if (typeof value !== 'function') return value;
      return (...given: never[]) =>
        isDead() ? new Promise(() => {}) : (value as (...args: never[]) => unknown)(...given);
    },
  });
}

describe.each(places)(
  'D91: an answer whose process died while it was carried out (%s)',
  (_name, makePlace) => {
    it.each([
      ['unchanged', undefined, { n: 1 }],
      ['edited', { n: 2 }, { n: 2 }],
    ])('is carried out by the next process: %s', async (_case, args, expected) => {
      const place = makePlace();
      const ran: unknown[] = [];
      let dead = false;
      const agentFor = (isFirst: boolean) =>
        builderWith(
          followingDriver([toolCall('pay', { n: 1 }), final('done')]),
          mockTool(
            'pay',
            (given: unknown) => {
              ran.push(given);
              if (!isFirst) return 'paid';
              dead = true;
              return new Promise(() => {});
            },
            { needsApproval: true, idempotent: true },
          ),
        ).build();
      const lease = { leaseMs: 600, heartbeatMs: 100, signalMs: 20 };
      const first = runtimeOn(
        mortal(place.open(), () => dead),
        agentFor(true),
        { lease },
      );
      await first.create({ ...ann, id: 's' });
      const { pendingApprovals } = await first.send('s', 'go', { ...ann, wait: true });
      const { callId, executionId, argsHash } = pendingApprovals[0]!;
      await first.approve('s', callId, {
        ...ann,
        executionId,
        argsHash,
        by: 'mira',
        ...(args && { args }),
      });
      await until(() => dead);
      const errors: unknown[] = [];
      const second = runtimeOn(place.open(), agentFor(false), {
        lease,
        onError: (error) => errors.push(error),
      });
      second.start();
      const session = await until(async () => {
        const found = await clientOn(place.open(), agentFor(false)).get('s', ann);
        return found.status === 'completed' ? found : null;
      });
      expect(errors).toEqual([]);
      expect(session.output).toBe('done');
      expect(ran).toEqual([expected, expected]);
      const { items } = await second.steps('s', ann);
      expect(items[0]?.results[0]?.approval).toMatchObject({
        decision: args ? 'edited' : 'approved',
        by: 'mira',
      });
    });
  },
);
