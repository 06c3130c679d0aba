import { AgentBuilder, type Agent } from 'onward';
import { telemetry } from 'onward/telemetry';
import { DeterministicDriver, mockTool, type ScenarioStep } from 'onward/testing';

/** The agent that each process creates; a process that continues a session has the rest of its script. */
export function tracedAgent(script: readonly ScenarioStep[], hang: () => unknown): Agent {
  return AgentBuilder.base()
    .withName('bank')
    .withDriver(DeterministicDriver.create(script, { name: 'openai:gpt-5' }))
    .withTools(
      mockTool('look', 'seen'),
      mockTool('pay', 'paid', { needsApproval: true }),
      mockTool('hang', hang, { idempotent: true }),
    )
    .withCapability(telemetry())
    .build();
}
