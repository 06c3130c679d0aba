import { explanationLine } from '../continuation/explanation.ts';
import type { StopSentence } from '../trace/trace.ts';

/** The banner as one line, for screen readers. */
export const sentenceOf = ({ explanation }: StopSentence): string => explanationLine(explanation);
