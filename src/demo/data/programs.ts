import { readRows } from './read-rows.ts';

export interface ProgramRow {
  readonly id: string;
  readonly name: string;
  readonly tier: string;
  readonly region: string;
  readonly status: string;
  /** Quarters until it renews, and the position in that quarter. */
  readonly quarter: number;
  readonly share: number;
  readonly budget: number;
  readonly owner: string;
}

export const tiers: readonly string[] = ['platinum', 'gold', 'silver'];
export const programStatuses: readonly string[] = ['active', 'paused', 'closing'];

/** id, name, tier, region, status, quarter, share of it, budget, owner */
const table = `
prg_101 | Nordlicht     | gold     | Nordics | active  | 0 | 0.35 | 240000 | Mara Lindqvist
prg_102 | Alpine        | gold     | DACH    | active  | 0 | 0.80 | 310000 | Greta Hofer
prg_103 | Baltic        | silver   | Baltics | active  | 1 | 0.20 |  95000 | Jonas Weber
prg_104 | Iberia Cloud  | platinum | Iberia  | active  | 0 | 0.55 | 420000 | Pau Ferrer
prg_105 | Rhine Valley  | platinum | DACH    | active  | 1 | 0.60 | 515000 | Jonas Weber
prg_106 | Adriatic      | silver   | South   | active  | 2 | 0.15 | 120000 | Luca Moretti
prg_107 | Gallia        | gold     | West    | active  | 0 | 0.95 | 280000 | Chloé Garnier
prg_108 | Danube        | silver   | East    | paused  | 3 | 0.40 |  60000 | Greta Hofer
prg_109 | Benelux Scale | gold     | West    | active  | 1 | 0.85 | 265000 | Chloé Garnier
prg_110 | Celtic Bridge | silver   | West    | active  | 2 | 0.50 | 140000 | Mara Lindqvist
prg_111 | Hellas        | silver   | South   | closing | 2 | 0.75 |  40000 | Luca Moretti
prg_112 | Carpathia     | silver   | East    | active  | 3 | 0.70 | 110000 | Pau Ferrer
`;

export const programRows: readonly ProgramRow[] = readRows(table).map(
  ([
    id = '',
    name = '',
    tier = '',
    region = '',
    status = '',
    quarter,
    share,
    budget,
    owner = '',
  ]) => ({
    id,
    name,
    tier,
    region,
    status,
    quarter: Number(quarter),
    share: Number(share),
    budget: Number(budget),
    owner,
  }),
);
