import { durationText, secondsText } from '../../number-text.ts';

/** Formats seconds and their limit: the unit appears once if both share it. */
export function secondsOfText(used: number, limit: number): readonly [string, string] {
  const share = used >= 0.0995 && used < 600 && limit < 600;
  if (!share) return [durationText(used * 1000), limitText(limit)];
  return [secondsText(used), `${secondsText(limit)} s`];
}

/** Formats a limit, which is a round number from the configuration: `120 s`, `30m`, `2h`. */
function limitText(seconds: number): string {
  if (seconds < 600) return `${secondsText(seconds)} s`;
  return durationText(seconds * 1000).replace(/ 00[sm]$/, '');
}

/** Formats a rounded share: any time spent is never 0 %, and a part is never 100 %. */
export function shareText(ms: number, all: number): string {
  if (all <= 0) return '–';
  const share = (ms / all) * 100;
  if (share > 0 && share < 1) return '< 1 %';
  return share < 100 && share > 99 ? '> 99 %' : `${Math.round(share)} %`;
}
