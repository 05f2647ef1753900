import t, { type Test } from 'tap';
import {
  type BodySearch,
  createBodySearch,
  type SearchedNonce,
} from '../../../../../../src/chains/evm/inclusion/body-search.ts';
import { openRpc } from '../../../../../support/evm.ts';
import { type DoubleHandler, startRpcDouble } from '../../../../../support/rpc-double.ts';

const ACCOUNT = '0x00000000000000000000000000000000000000a1';
const BLOCK_S = 12;
const hex = (value: number) => `0x${value.toString(16)}`;
const OTHER = `0x${'2'.repeat(64)}`;
const MINUTE = 60_000;

/** A chain with one block every twelve seconds. Block `usedIn` holds the transaction with nonce 0. */
function chain(usedIn: number, from = 0): DoubleHandler {
  return ({ method, params: [block] }) => {
    if (method !== 'eth_getBlockByNumber') return { error: { code: -32_601, message: 'no' } };
    const number = Number(block);
    const transactions = number === usedIn ? [{ hash: OTHER, from: ACCOUNT, nonce: '0x0' }] : [];
    const shown = { number: block, hash: `0x${'e'.repeat(64)}`, timestamp: hex(number * BLOCK_S), transactions };
    return { result: number >= from ? shown : null };
  };
}

const sought = (signedInBlock: number, sequence = 0n): SearchedNonce => ({
  account: ACCOUNT,
  sequence,
  hashes: [`0x${'1'.repeat(64)}`],
  signedAt: signedInBlock * BLOCK_S * 1_000,
});

async function open(t: Test, handler: DoubleHandler) {
  const double = await startRpcDouble(handler);
  const rpc = openRpc([double.url]);
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  const wholes = () => double.calls.filter(({ params }) => params[1] === true).map(({ params }) => Number(params[0]));
  const look = (search: BodySearch, of: readonly SearchedNonce[], last = 10_000n) =>
    rpc.onOne((read) => search.readOn(read, of, last));
  return { look, wholes };
}

t.test('it begins where the transaction was signed, with what two clocks may be apart, and goes up', async (t) => {
  const { look, wholes } = await open(t, chain(9_010));
  const search = createBodySearch();
  const one = sought(9_000);
  t.match((await look(search, [one]))?.get(one), { block: 9_010n, hash: OTHER });
  t.equal(Math.min(...wholes()), 9_000 - (5 * MINUTE) / 1_000 / BLOCK_S);
  t.ok(wholes().length <= 48, 'no further than it had to');
});

t.test('each look reads some more, and none a block that is not final', async (t) => {
  const { look, wholes } = await open(t, chain(9_200));
  const search = createBodySearch();
  const one = sought(9_000);
  let looks = 0;
  for (let found = false; !found; looks += 1) found = (await look(search, [one], 9_300n))?.has(one) === true;
  t.equal(looks, 4);
  t.equal(new Set(wholes()).size, wholes().length, 'no block twice');
  t.ok(Math.max(...wholes()) <= 9_300);
});

t.test('where the clock was wrong it goes on below, to the first block, and then anew', async (t) => {
  const { look, wholes } = await open(t, chain(3));
  const search = createBodySearch();
  const late = sought(20_000);
  for (let looks = 0; looks < 20; looks += 1) {
    if ((await look(search, [late], 500n))?.has(late) === true) break;
  }
  t.ok(wholes().includes(3));
  t.equal(new Set(wholes()).size, wholes().length, 'no block twice');

  const absent = await open(t, chain(900));
  const another = createBodySearch();
  for (let looks = 0; looks < 20; looks += 1) await absent.look(another, [sought(20_000)], 200n);
  t.equal(absent.wholes().filter((number) => number === 0).length > 1, true);
});

t.test('another nonce begins a search of its own', async (t) => {
  const { look, wholes } = await open(t, chain(-1));
  const search = createBodySearch();
  await look(search, [sought(9_000)]);
  await look(search, [sought(9_000), sought(400, 1n)]);
  t.ok(wholes().includes(400));
});

t.test('blocks that are not shown are told from blocks without it', async (t) => {
  const { look } = await open(t, chain(-1, 9_000));
  t.equal(await look(createBodySearch(), [sought(400)], 8_000n), undefined);
  t.equal((await look(createBodySearch(), [sought(9_500)]))?.size, 0);
});
