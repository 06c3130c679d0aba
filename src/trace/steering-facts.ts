import { counted } from '../number-text.ts';
import { visibleText } from '../visible-text.ts';
import type { ModelCallFact } from './model-call-facts.ts';
import type { TraceStep } from './trace.ts';

/** Most tool names in one fact. */
const MAX_NAMES = 8;

/** Returns what a step sent that differs from the definition of its agent, without hidden characters. */
export function steeringFacts({ steering }: TraceStep): readonly ModelCallFact[] {
  if (!steering) return [];
  const { model, tools, toolChoice, systemHash } = steering;
  const facts: ModelCallFact[] = [];
  if (model !== undefined)
    facts.push({ text: 'model chosen for this step', code: visibleText(model) });
  if (tools) {
    const shown = tools.names.slice(0, MAX_NAMES).map(visibleText);
    const more = tools.count > shown.length && shown.length > 0 ? ', …' : '';
    const text = `${counted(tools.count, 'tool')} offered`;
    facts.push(shown.length === 0 ? { text } : { text, code: `${shown.join(', ')}${more}` });
  }
  if (toolChoice !== undefined) {
    const choice = typeof toolChoice === 'string' ? toolChoice : toolChoice.tool;
    facts.push({ text: 'tool choice', code: visibleText(choice) });
  }
  if (systemHash !== undefined)
    facts.push({ text: 'own system prompt', code: systemHash.slice(0, 12) });
  return facts;
}
