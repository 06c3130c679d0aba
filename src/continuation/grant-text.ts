import { counted, countText, exactMoneyText } from '../number-text.ts';
import { listText } from '../sentence.ts';
import { grantKinds, type GrantKind, type Grants } from './grants.ts';

/* @__NO_SIDE_EFFECTS__ */
const amountOf =
  (one: string, many: string) =>
  (amount: number, more: string): string =>
    `${countText(amount)}${more} ${amount === 1 ? one : many}`;

const units: Readonly<Record<GrantKind, (amount: number, more: string) => string>> = {
  steps: amountOf('step', 'steps'),
  tokens: amountOf('token', 'tokens'),
  cost: (amount, more) => `${exactMoneyText(amount)}${more}`,
  seconds: amountOf('second', 'seconds'),
  retries: amountOf('retry', 'retries'),
};

const amountsOf = (grant: Grants): [GrantKind, number][] =>
  grantKinds.flatMap((kind) => {
    const amount = grant[kind];
    return amount === undefined ? [] : [[kind, amount]];
  });

/** Writes a grant: "5 more steps and 20,000 more tokens". */
export const grantText = (grant: Grants, more: string = ''): string =>
  listText(amountsOf(grant).map(([kind, amount]) => units[kind](amount, more && ` ${more}`)));

/** Writes a button label: "Continue with 5 more steps". */
export const grantLabel = (grant: Grants): string => `Continue with ${grantText(grant, 'more')}`;

/** Writes a clause that follows "To continue,": "add 5 steps and $0.05", "try again". */
export function addText(grant: Grants): string {
  const { retries, ...rest } = grant;
  if (Object.keys(rest).length > 0) return `add ${grantText(grant)}`;
  return retries === undefined || retries === 1
    ? 'try again'
    : `try again up to ${counted(retries, 'time')}`;
}

/** Writes a grant as code: "{ steps: 5, tokens: 20000 }". */
export const grantCode = (grant: Grants): string =>
  `{ ${amountsOf(grant)
    .map(([kind, amount]) => `${kind}: ${amount}`)
    .join(', ')} }`;
