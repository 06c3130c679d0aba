import { describe, expect, it } from 'vitest';
import { BroadcastConfig } from './broadcast-config.ts';

const limits = { maxArgLength: 200, maxResultLength: 500, frameBytes: 10_000, queueSize: 1_000 };
const nothing = {
  includeStream: false,
  includeSteps: false,
  includeTools: false,
  includeContinuationTrace: false,
  includeToolArgs: false,
  includeReasoning: false,
};
const usual = { ...nothing, includeStream: true, includeSteps: true, includeTools: true };
const everything = {
  ...usual,
  includeContinuationTrace: true,
  includeToolArgs: true,
  includeReasoning: true,
};

describe('BroadcastConfig', () => {
  it.each([
    ['minimal', BroadcastConfig.minimal(), nothing],
    ['standard', BroadcastConfig.standard(), usual],
    ['debug', BroadcastConfig.debug(), everything],
    ['no preset', new BroadcastConfig(), usual],
  ])('%s', (_name, config, expected) => {
    expect({ ...config }).toEqual({ ...expected, ...limits });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('a preset accepts changes', () => {
    const config = BroadcastConfig.minimal({ includeTools: true, frameBytes: 30_000 });
    expect({ ...config }).toEqual({
      ...nothing,
      ...limits,
      includeTools: true,
      frameBytes: 30_000,
    });
  });

  it.each([
    [{ frameByte: 1 }, /frameByte got 1, expected one of includeStream, /],
    [{ queueSize: 0 }, /queueSize got 0, expected a finite number above 0/],
    [{ maxArgLength: Number.POSITIVE_INFINITY }, /maxArgLength got Infinity/],
    [{ includeTools: 'yes' }, /includeTools got "yes", expected true or false/],
  ])('refuses %j', (settings, message) => {
    expect(() => new BroadcastConfig(settings as never)).toThrow(message);
  });
});
