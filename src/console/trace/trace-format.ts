import { durationText, secondsText } from '../../number-text.ts';

/** Seconds beside their limit: the unit stands once where both can share it. */
export function secondsOfText(used: number, limit: number): readonly [string, string] {
  const share = used >= 0.0995 && used < 600 && limit < 600;
  if (!share) return [durationText(used * 1000), limitText(limit)];
  return [secondsText(used), `${secondsText(limit)} s`];
}

/** A limit is a round number from the configuration: `120 s`, `30m`, `2h`. */
function limitText(seconds: number): string {
  if (seconds < 600) return `${secondsText(seconds)} s`;
  return durationText(seconds * 1000).replace(/ 00[sm]$/, '');
}

/** Rounded, but what took time is never 0 %, and what left some is never all of it. */
export function shareText(ms: number, all: number): string {
  if (all <= 0) return '–';
  const share = (ms / all) * 100;
  if (share > 0 && share < 1) return '< 1 %';
  return share < 100 && share > 99 ? '> 99 %' : `${Math.round(share)} %`;
}
