// made once: `toLocaleString` makes a new one with each call
const plain = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });
const cents = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});
const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

/** "20,000", "0.5": exact as far as a person reads. */
export const count = (value: number): string => plain.format(value);

/** "$0.10", "$0.1004": cents always, and as much more as is there. */
export const money = (value: number): string => `$${cents.format(value)}`;

/** "120", "119.6": tenths are enough of a second. */
export const seconds = (value: number): string => tenths.format(value);

/** "once", "twice", "4 times". */
export const times = (value: number): string =>
  value === 1 ? 'once' : value === 2 ? 'twice' : `${count(value)} times`;
