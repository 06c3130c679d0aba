import { agentServer } from 'onward/server';
import { describe, expect, it } from 'vitest';
import { stoppedBy } from '../setup/owner-grants.ts';
import { ann } from '../setup/sessions.ts';
import { asking, owner, type Ask } from './setup.ts';

async function stoppedOver(
  options: Omit<Parameters<typeof agentServer>[0], 'runtime' | 'owner'> = {},
  grants: Parameters<typeof stoppedBy>[1] = {},
) {
  const stopped = await stoppedBy((b) => b.withMaxSteps(3), grants);
  const server = agentServer({ runtime: stopped.runtime, owner, rateLimit: null, ...options });
  return { ...stopped, server, ask: asking(server) };
}

const grant = (ask: Ask, steps: unknown) =>
  ask('POST /api/sessions/s/resume', { body: { grant: { steps } } });

describe('grants over HTTP', () => {
  it('above the cap get 403 with the rest and the accepted amount', async () => {
    const { ask, runtime, driver } = await stoppedOver();
    const body = { grant: { steps: 200, cost: 1e9, tokens: 1e12, seconds: 1e9 } };
    const refused = await ask('POST /api/sessions/s/resume', { body });
    expect(refused.status).toBe(403);
    expect(refused.body.error).toMatchObject({
      code: 'grant_refused',
      details: {
        allowance: { steps: 3, tokens: 0, cost: 0, seconds: 300 },
        grant: { steps: 3 },
      },
    });
    expect(driver.calls).toBe(3);
    expect((await grant(ask, 3)).status).toBe(202);
    const session = await runtime.wait('s', ann);
    expect(session).toMatchObject({ stepCount: 6, status: 'stopped' });
    expect(session.grantLog).toMatchObject([{ by: 'ann', authority: 'owner' }]);
    expect((await grant(ask, 1)).body.error).toMatchObject({
      code: 'grant_refused',
      details: { allowance: { steps: 0 }, grant: null },
    });
    expect(driver.calls).toBe(6);
  });

  it('are suggested by session and trace, which then refer to the operator', async () => {
    const { ask, runtime } = await stoppedOver({ grants: { steps: 2 } });
    const detail = await ask('GET /api/sessions/s');
    expect(detail.body).toMatchObject({
      allowance: { left: { steps: 2 }, grant: { steps: 2 } },
      stop: { action: { kind: 'grant', grant: { steps: 2 }, label: 'Continue with 2 more steps' } },
    });
    const trace = await ask('GET /api/sessions/s/trace');
    expect(trace.body.stop.action).toEqual(detail.body.stop.action);
    expect((await grant(ask, detail.body.stop.action.grant.steps)).status).toBe(202);
    await runtime.wait('s', ann);
    for (const path of ['/api/sessions/s', '/api/sessions/s/trace'])
      expect((await ask(`GET ${path}`)).body.stop).toMatchObject({
        goOnIf: 'an operator raised the limit, or you sent a new message',
        action: { kind: 'message' },
      });
    expect((await ask('GET /api/sessions/s')).body).toMatchObject({
      allowance: { grant: null },
      grants: { steps: 2 },
      grantLog: [{ grant: { steps: 2 }, by: 'ann', authority: 'owner' }],
    });
  });

  it('use the caps of the server instead of those of the runtime', async () => {
    const { ask } = await stoppedOver({ grants: 'unlimited' }, { grants: { steps: 0 } });
    expect((await grant(ask, 20)).status).toBe(202);
    const strict = await stoppedOver({ grants: { steps: 0 } }, { grants: 'unlimited' });
    expect((await grant(strict.ask, 1)).status).toBe(403);
    const own = await stoppedOver({}, { grants: { steps: 0 } });
    expect((await grant(own.ask, 1)).status).toBe(403);
  });

  it.each([0, -1, 0.5, 1e300, '3', null, [3], true])('of %j steps get 400', async (steps) => {
    const { ask, driver } = await stoppedOver({ grants: 'unlimited' });
    const answer = await grant(ask, steps);
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe('invalid_request');
    expect(driver.calls).toBe(3);
  });

  it('have the authority of the owner, whatever the body contains', async () => {
    const { ask, driver } = await stoppedOver();
    for (const more of [{ authority: 'operator' }, { grants: 'unlimited' }, { by: 'ops' }])
      expect(
        (await ask('POST /api/sessions/s/resume', { body: { grant: { steps: 9 }, ...more } }))
          .status,
      ).toBe(400);
    expect(driver.calls).toBe(3);
  });

  it('fail with 500 if the function returns invalid caps', async () => {
    const errors: unknown[] = [];
    const { ask, driver } = await stoppedOver({
      grants: () => ({ steps: -5 }),
      onError: (error) => errors.push(error),
    });
    expect((await grant(ask, 1)).status).toBe(500);
    expect(String(errors[0])).toContain('the function of grants "steps" got -5');
    expect(driver.calls).toBe(3);
  });

  it('with an invalid policy fail when the server is created', async () => {
    await expect(stoppedOver({ grants: { turns: 3 } as never })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('agentServer grants "turns" got 3'),
    });
  });
});
