import { describe, expect, it } from 'vitest';
import {
  counted,
  countText,
  durationText,
  exactMoneyText,
  moneyText,
  secondsText,
  timesText,
} from './number-text.ts';

/** Texts that explanations, the console, the components and the CLI share. */
describe('number texts', () => {
  it.each([
    [durationText, 0, '0 ms', 'nothing'],
    [durationText, 3.4, '3 ms', 'whole milliseconds'],
    [durationText, 99.4, '99 ms', 'the last of them'],
    [durationText, 99.6, '0.10 s', 'never 100 ms next to 0.10 s'],
    [durationText, 310, '0.31 s', 'hundredths'],
    [durationText, 9_994, '9.99 s', 'the last of them'],
    [durationText, 9_996, '10.0 s', 'never 10.00 s'],
    [durationText, 59_949, '59.9 s', 'the last tenths'],
    [durationText, 59_960, '1m 00s', 'never 60.0 s'],
    [durationText, 65_000, '1m 05s', 'two digits align'],
    [durationText, 252_000, '4m 12s', 'minutes'],
    [durationText, 3_599_600, '1h 00m', 'never 60m 00s'],
    [durationText, 5_000_000, '1h 23m', 'hours'],
    [durationText, 172_799_400, '47h 59m', 'hours up to two days'],
    [durationText, 172_799_600, '2d 00h', 'days'],
    [durationText, 190_800_000, '2d 05h', 'days and hours'],
    [secondsText, 120, '120', 'a round number as configured'],
    [secondsText, 119.64, '119.6', 'not rounded up to the limit of 120'],
    [countText, 20_000, '20,000', 'thousands are separated'],
    [countText, 0.5, '0.5', 'a part'],
    [countText, 0.1 + 0.2, '0.3', 'without rounding errors of a sum'],
    [timesText, 1, 'once', 'a word'],
    [timesText, 2, 'twice', 'a word'],
    [timesText, 1_000, '1,000 times', 'a number'],
    [moneyText, 0, '$0.00', 'nothing'],
    [moneyText, 1e-9, '< $0.0000001', 'never 0 for a positive amount'],
    [moneyText, 0.00001234, '$0.0000123', 'less than a hundredth of a cent'],
    [moneyText, 0.0031, '$0.0031', 'fractions of a cent'],
    [moneyText, 0.008, '$0.0080', 'as many digits as similar amounts'],
    [moneyText, 0.1004, '$0.1004', 'still'],
    [moneyText, 0.99996, '$1.00', 'never $1.0000'],
    [moneyText, 12.4, '$12.40', 'cents'],
    [moneyText, 1_234.5, '$1,234.50', 'thousands'],
    [exactMoneyText, 0.1, '$0.10', 'cents always'],
    [exactMoneyText, 0.005, '$0.005', 'more decimals if needed'],
    [exactMoneyText, 100, '$100.00', 'a round amount'],
  ])('%o of %d is %s: %s', (text, value, shown) => expect(text(value)).toBe(shown));

  it('counted adds the plural', () => {
    expect([0, 1, 2].map((n) => counted(n, 'call'))).toEqual(['0 calls', '1 call', '2 calls']);
    expect(counted(1_500, 'retry', 'retries')).toBe('1,500 retries');
  });
});
