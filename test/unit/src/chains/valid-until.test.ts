import t from 'tap';
import { readValidUntil } from '../../../../src/chains/valid-until.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

t.test('moments to come, with their offsets', async (t) => {
  for (const [text, at] of [
    ['2026-01-01T00:00:00.001Z', NOW + 1],
    ['2026-01-01t01:00:00.5+01:00', NOW + 500],
    ['2026-01-01 00:00:01z', NOW + 1_000],
    ['2028-02-29T23:59:59-23:59', Date.parse('2028-03-01T23:58:59Z')],
    ['2099-12-31T00:00:00.123456789Z', Date.parse('2099-12-31T00:00:00.123Z')],
  ] as const) {
    t.equal(readValidUntil(text, NOW), at, text);
  }
});

t.test('moments that there are not', async (t) => {
  for (const text of [
    '2099-02-30T00:00:00Z',
    '2099-02-29T00:00:00Z',
    '2099-04-31T00:00:00Z',
    '2099-13-01T00:00:00Z',
    '2099-00-01T00:00:00Z',
    '2099-01-00T00:00:00Z',
    '2099-01-01T24:00:00Z',
    '2099-01-01T00:60:00Z',
    '2099-12-31T23:59:60Z',
    '2099-01-01T00:00:00+24:00',
    '2099-01-01T00:00:00+01:60',
    '2099-01-01T00:00:00',
    '2099-01-01',
    '2099-1-1T00:00:00Z',
    'tomorrow',
    '',
  ]) {
    t.throws(() => readValidUntil(text, NOW), { message: 'Invalid validUntil datetime format' }, text);
  }
});

t.test('moments that are over', async (t) => {
  for (const text of ['2026-01-01T00:00:00Z', '2025-12-31T23:59:59.999Z', '0001-01-01T00:00:00Z']) {
    t.throws(() => readValidUntil(text, NOW), { message: 'The validUntil time cannot be in the past' }, text);
  }
});
