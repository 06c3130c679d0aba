import type { StopSentence } from '../trace/trace.ts';

/** The banner as one sentence, for those who listen. */
export const sentenceOf = ({ lead, because, goOnIf }: StopSentence): string =>
  `${lead} ${because}${goOnIf === null ? '' : `, it would go on if ${goOnIf}`}.`;
