import { AgentBuilder } from '../agent/agent-builder.ts';
import type { Agent } from '../agent/agent.ts';
import { noProgressLimit } from '../continuation/criteria/no-progress-limit.ts';
import { ErrorPolicy } from '../errors/error-policy.ts';
import type { ModelInput } from '../inference/model-registry.ts';
import type { PriceTable } from '../inference/prices.ts';
import type { Tool } from '../tools/tool.ts';
import { DEMO_MODEL } from './demo-model.ts';
import { leadHasOwner } from './lead-has-owner.ts';

const systemPrompt = `You are the partner assistant of a European software company. You help the partner managers look after partner programs and their leads.

How you work:
- Facts come from the tools, never from memory. Give names, ids and numbers exactly as the tools return them, and amounts in euros.
- Search before you answer or change anything. Call tools that do not depend on each other in the same step.
- Before you create a lead, look for the same company under another spelling. If there is one, say so.
- Give every new lead an owner: the one the person names, otherwise the owner of the program.
- When enrich_company says that the directory did not answer, call it again with the same domain. After three failures continue without it and say so.
- Deleting needs the agreement of a person, and asking for it is part of the tool: call delete_lead with id, company, program and a reason that one can decide by. If the person refuses, accept it and do not ask again.
- When a tool reports an error, read it: it says what to do. If a program or lead does not exist, say so and name what there is.
- Ask back only when you cannot continue. Otherwise do what was asked and report it.

How you write: short and plain, in the language of the person, without tables. Lists with one item a line, starting with "- ".`;

/** Invented prices, so that the meters of the demo move: dollars per million tokens. */
const prices: PriceTable = { [DEMO_MODEL]: { input: 1, output: 4 } };

/** Creates the agent for any model; the trace shows these limits. */
export const partnerAgent = (model: ModelInput, tools: readonly Tool[]): Agent =>
  AgentBuilder.base()
    .withName('partner-assistant')
    .withModel(model)
    .withPrices(prices)
    .withSystemPrompt(systemPrompt)
    .withTools(...tools)
    .withMaxSteps(6)
    .withMaxTokens(300_000)
    .withMaxCost(1)
    .withTimeout({ seconds: 180 })
    .withErrorPolicy(ErrorPolicy.production().withMaxRetries({ tool: 3 }))
    .addContinuationCriteria(noProgressLimit(3), leadHasOwner())
    .build();
