import type { StoreCodec } from 'onward/stores';
import { memoryStore } from 'onward/stores/memory';
import { sqliteStore } from 'onward/stores/sqlite';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  ann,
  builderWith,
  clientOn,
  codeOf,
  followingDriver,
  runtimeOn,
  sqlitePlace,
  until,
} from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;

/** Creates a codec that changes the recorded arguments of a call, but not the arguments that were shown. */
function tampering(): { readonly codec: StoreCodec; isOn: boolean } {
  const tamper = {
    isOn: false,
    codec: {
      encode: (text: string) => text,
      decode: (text: string) =>
        tamper.isOn
          ? text.replace(
              /("toolCalls":\[\{"id":"\w+","name":"pay","args":)\{"n":1\}/,
              '$1{"n":999}',
            )
          : text,
    },
  };
  return tamper;
}

const stores = [
  ['memory', (codec: StoreCodec) => memoryStore({ codec })],
  ['sqlite', (codec: StoreCodec) => sqliteStore({ path: `${sqlitePlace().folder}/t.db`, codec })],
] as const;

describe.each(stores)('D91: a call whose recorded arguments changed (%s)', (_name, open) => {
  const begin = async () => {
    const tamper = tampering();
    const store = open(tamper.codec);
    onTestFinished(() => store.close());
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const driver = followingDriver([toolCall('pay', { n: 1 }), final('done')]);
    const agent = builderWith(driver, pay).build();
    const first = runtimeOn(store, agent);
    await first.create({ ...ann, id: 's' });
    const { pendingApprovals } = await first.send('s', 'go', { ...ann, wait: true });
    const { callId, executionId, argsHash } = pendingApprovals[0]!;
    return { tamper, store, pay, agent, first, callId, bound: { executionId, argsHash } };
  };

  it('accepts no answer, whatever execution or hash it names', async () => {
    const { tamper, pay, first, callId, bound } = await begin();
    tamper.isOn = true;
    for (const names of [{}, bound, { executionId: bound.executionId }]) {
      const given = { ...ann, ...names };
      expect(await codeOf(() => first.approve('s', callId, given))).toBe('stale_approval');
      expect(await codeOf(() => first.deny('s', callId, { ...given, reason: 'no' }))).toBe(
        'stale_approval',
      );
    }
    expect(pay.calls).toEqual([]);
    tamper.isOn = false;
    await first.approve('s', callId, { ...ann, ...bound, wait: true });
    expect(pay.calls).toEqual([{ n: 1 }]);
  });

  it('does not run with an answer that was given before the change', async () => {
    const { tamper, store, pay, agent, first, callId, bound } = await begin();
    await first.close({ graceMs: 0 });
    await clientOn(store, agent).approve('s', callId, { ...ann, ...bound });
    tamper.isOn = true;
    const errors: unknown[] = [];
    const second = runtimeOn(store, agent, { onError: (error) => errors.push(error) });
    second.start();
    await until(() => errors.length > 0);
    expect(errors[0]).toMatchObject({ code: 'stale_approval' });
    expect(pay.calls).toEqual([]);
  });
});
