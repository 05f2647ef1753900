import t from 'tap';
import { termsOf } from '../../../../../../src/chains/solana/swap/aggregator.ts';

/** The discriminators of the program's published interface. */
const [ROUTE, SHARED, ROUTE_V2, SHARED_V2, EXACT_OUT] = [
  'e517cb977ae3ad2a',
  'c1209b3341d69c81',
  'bb64facc31c4af14',
  'd19853937cfed8e9',
  'd033ef977b2bed5c',
] as const;

/** 1,000 in, 2,000 out, 0.5 % slippage. */
const terms = Buffer.alloc(18);
terms.writeBigUInt64LE(1_000n);
terms.writeBigUInt64LE(2_000n, 8);
terms.writeUInt16LE(50, 16);

const plan = Buffer.from('01000000266400', 'hex');
const made = (selector: string, ...parts: Buffer[]) => Buffer.concat([Buffer.from(selector, 'hex'), ...parts]);

t.test('what an instruction of Jupiter’s program gives, and takes at least', async (t) => {
  for (const data of [
    made(ROUTE, plan, terms, Buffer.alloc(1)),
    made(SHARED, Buffer.from([7]), plan, terms, Buffer.alloc(1)),
    made(ROUTE_V2, terms, Buffer.alloc(4), plan),
    made(SHARED_V2, Buffer.from([7]), terms, Buffer.alloc(4), plan),
  ])
    t.match(termsOf(data), { given: 1_000n, least: 1_990n });
});

t.test('a slippage beyond all takes nothing', async (t) => {
  const all = Buffer.from(terms);
  all.writeUInt16LE(65_535, 16);
  t.match(termsOf(made(ROUTE_V2, all)), { given: 1_000n, least: 0n });
});

t.test('what is not known has no terms', async (t) => {
  t.equal(termsOf(made(EXACT_OUT, plan, terms, Buffer.alloc(1))), undefined);
  t.equal(termsOf(made(ROUTE, Buffer.alloc(10))), undefined);
  t.equal(termsOf(made(SHARED_V2, terms)), undefined);
  t.equal(termsOf(Buffer.alloc(0)), undefined);
});

t.test('where it takes from and pays to', async (t) => {
  const placesOf = (data: Buffer) => {
    const { given: _, least: __, ...places } = termsOf(data) ?? { given: 0n, least: 0n };
    return places;
  };
  t.strictSame(placesOf(made(ROUTE, plan, terms, Buffer.alloc(1))), { source: 2, destination: 3, instead: 4 });
  t.strictSame(placesOf(made(SHARED, plan, terms, Buffer.alloc(1))), { source: 3, destination: 6 });
  t.strictSame(placesOf(made(ROUTE_V2, terms)), { source: 1, destination: 2, instead: 7 });
  t.strictSame(placesOf(made(SHARED_V2, Buffer.from([7]), terms)), { source: 2, destination: 5 });
});
