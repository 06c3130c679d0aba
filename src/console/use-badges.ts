import type { ServerInfo } from '../server/api.ts';
import type { Api } from './api-client.ts';
import type { PageName } from './route.ts';
import { useRead } from './use-read.ts';

/** Milliseconds between two counts. */
const EVERY_MS = 15_000;

/** Counts what needs a person, by page. An older server that does not count has no badges. */
export function useBadges(
  api: Api,
  info: ServerInfo | null,
): Readonly<Partial<Record<PageName, number>>> {
  const isOperator = info?.isOperator === true;
  const { value } = useRead(
    `badges ${info !== null} ${isOperator}`,
    async (signal) => {
      if (info === null) return null;
      const [own, all] = await Promise.all([
        api.attention('own', signal),
        isOperator ? api.attention('all', signal) : null,
      ]);
      return {
        sessions: own.gaveUp + own.stuck + own.failed + own.waiting,
        workers: all?.gaveUp ?? 0,
      };
    },
    EVERY_MS,
  );
  return value ?? {};
}
