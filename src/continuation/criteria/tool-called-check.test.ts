import { describe, expect, it } from 'vitest';
import { asked, runView } from '../../../test/setup/run-view.ts';
import { toolCalledCheck } from './tool-called-check.ts';

describe('ToolCalledCheck', () => {
  const judge = (succeededTools: readonly string[]) =>
    toolCalledCheck('create_lead').evaluate(runView({ execution: { succeededTools } }), asked());

  it('D15: requests continuation until the tool succeeds, then ends the run as completed', () => {
    expect(judge([])).toMatchObject({
      decision: 'request',
      reason: 'the tool create_lead has not been called successfully yet',
    });
    expect(judge(['search'])).toMatchObject({ decision: 'request' });
    expect(judge(['search', 'create_lead'])).toMatchObject({
      decision: 'forbid',
      stopReason: 'completed',
      reason: 'the tool create_lead was called',
      context: { tool: 'create_lead' },
    });
  });

  it.each([undefined, '', 7])('rejects %s as a name', (tool) => {
    expect(() => toolCalledCheck(tool as string)).toThrowError(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });
});
