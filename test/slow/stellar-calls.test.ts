/** Contract operations of a Stellar relayer, from the request to the ledger. The ledger is the judge. */
import { createHash } from 'node:crypto';
import { Address, authorizeEntry, type Keypair, rpc, scValToNative, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { codeOf } from '../doubles/stellar/soroban/contracts/registry.ts';
import { invoke, address as val, withAuth } from '../support/stellar-contract-scene.ts';
import { LUMEN } from '../support/stellar-scene.ts';
import { payment, stellarStage } from '../support/stellar-stage.ts';

const stage = await stellarStage(t);
const { net, server, relayer, submit, post, until, tickUntil, funded, signed, balanceOf } = stage;

const native = await net.assetContract('native');
const probe = await net.contract('probe');
const address = (of: Keypair | string) => ({ address: typeof of === 'string' ? of : of.publicKey() });
const i128 = (amount: bigint) => ({ i128: { hi: '0', lo: String(amount) } });

const call = (contract: string, name: string, ...args: unknown[]) => ({
  type: 'invoke_contract',
  contract_address: contract,
  function_name: name,
  args,
});
const transfer = (from: Keypair, to: Keypair, amount: bigint) =>
  call(native, 'transfer', address(from), address(to), i128(amount));

const landings = async (hash: string) => (await net.landed()).filter((one) => one.hash === hash).length;
const ended = async (operation: object, status = 'confirmed') =>
  tickUntil(await submit({ operations: [operation] }), status);
const valueOf = (told: { transaction_result_xdr?: string }) =>
  scValToNative(xdr.ScVal.fromXdr(told.transaction_result_xdr ?? '', 'base64')) as unknown;

t.test('a call is simulated, paid for by what it needs, and tells what came back', async (t) => {
  const to = await funded();
  const before = await balanceOf(relayer.publicKey());
  const told = await ended(transfer(relayer, to, 3n * LUMEN));
  t.equal(await landings(told.hash), 1);
  t.equal(await balanceOf(to.publicKey()), 103n * LUMEN);
  t.ok(told.fee > 100, String(told.fee));
  t.equal(await balanceOf(relayer.publicKey()), before - 3n * LUMEN - BigInt(told.fee));
  t.equal(told.transaction_result_xdr, xdr.ScVal.scvVoid().toXdr('base64'));
  const counted = await ended(call(probe, 'add', address(relayer), { u32: 7 }));
  t.equal(valueOf(counted), 7);
});

t.test('code is uploaded, made a contract and built', async (t) => {
  const token = codeOf('token');
  const uploaded = await ended({ type: 'upload_wasm', wasm: { base64: token.toString('base64') } });
  const hash = createHash('sha256').update(token).digest('hex');
  t.equal(Buffer.from(valueOf(uploaded) as Uint8Array).toString('hex'), hash);
  const create = (salt: string) => ({
    type: 'create_contract',
    source: { from: 'address', address: relayer.publicKey() },
    wasm_hash: hash,
    salt,
    constructor_args: [{ address: relayer.publicKey() }, { u32: 7 }, { string: 'Tea' }, { string: 'TEA' }],
  });
  const [one, other] = [await ended(create('01'.repeat(32))), await ended(create('02'.repeat(32)))];
  t.not(valueOf(one), valueOf(other));
  t.equal(valueOf(await ended(call(String(valueOf(one)), 'symbol'))), 'TEA');
  const again = await ended(create('01'.repeat(32)), 'failed');
  t.match(
    again.status_reason,
    /simulation failed: .*contract_error=Storage\(ExistingValue\) message="contract already exists"/,
  );

  await ended({ type: 'upload_wasm', wasm: { hex: codeOf('probe').toString('hex') } });
  const plain = { ...create('00'.repeat(32)), constructor_args: undefined, salt: undefined };
  const made = await ended({
    ...plain,
    wasm_hash: createHash('sha256').update(codeOf('probe')).digest('hex'),
  });
  t.equal(valueOf(await ended(call(String(valueOf(made)), 'count'))), 0);
});

t.test('what the relayer consents to is what was asked for, as far as the client says', async (t) => {
  const to = await funded();
  const through = (auth?: object) => ({
    ...call(
      probe,
      'call',
      address(relayer),
      address(native),
      { symbol: 'transfer' },
      { vec: [address(relayer), address(to), i128(LUMEN)] },
    ),
    ...(auth === undefined ? {} : { auth }),
  });
  await ended(through());
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN, 'the simulation found the call below');
  for (const auth of [{ type: 'source_account' }, { type: 'none' }, { type: 'xdr', entries: [] }]) {
    const refused = await ended(through(auth), 'failed');
    t.match(refused, { hash: null, status_reason: /simulation failed: .*contract_error=Auth\(InvalidAction\)/ });
  }
  await ended({ ...transfer(relayer, to, LUMEN), auth: { type: 'source_account' } });
  t.equal(await balanceOf(to.publicKey()), 102n * LUMEN);
});

/** An account's authorization of a transfer of its own, in base64. */
async function consented(owner: Keypair, to: Keypair, amount: bigint, ledgers = 100): Promise<string[]> {
  const value = xdr.ScVal.scvI128(new xdr.Int128Parts({ hi: 0n, lo: amount }));
  const operation = invoke(native, 'transfer', val(owner), val(to), value);
  const found = await server.simulateTransaction(await signed(relayer, [operation], { signers: [] }));
  if (!rpc.Api.isSimulationSuccess(found)) throw new Error(found.error);
  const last = found.latestLedger + ledgers;
  const entries = (found.result?.auth ?? []).map((entry) => authorizeEntry(entry, owner, last, net.passphrase));
  return (await Promise.all(entries)).map((entry) => entry.toXdr('base64'));
}

t.test('others consent by their signature', async (t) => {
  const [owner, to] = [await funded(), await funded()];
  const alone = await ended(transfer(owner, to, LUMEN), 'failed');
  t.match(alone, { hash: null, status_reason: /needs the authorization of another account/ });
  const entries = await consented(owner, to, LUMEN);
  const told = await ended({ ...transfer(owner, to, LUMEN), auth: { type: 'xdr', entries } });
  t.equal(await balanceOf(owner.publicKey()), 99n * LUMEN);
  t.equal(await landings(told.hash), 1);
  const again = await ended({ ...transfer(owner, to, LUMEN), auth: { type: 'xdr', entries } }, 'failed');
  t.match(again, { hash: null, status_reason: /Auth\(ExistingValue\) message="nonce already exists for address"/ });
  const other = await ended({ ...transfer(owner, to, 2n * LUMEN), auth: { type: 'xdr', entries } }, 'failed');
  t.match(other, { hash: null, status_reason: /Auth\(InvalidAction\)/ });
});

t.test('an envelope is simulated as well, and keeps the consents that it has', async (t) => {
  const [owner, to] = [await funded(), await funded()];
  const unsigned = async (operation: xdr.Operation) =>
    (await signed(relayer, [operation], { signers: [], with: (builder) => builder.setTimeout(0) })).toXdr();
  const count = await unsigned(invoke(probe, 'add', val(relayer), xdr.ScVal.scvU32(2)));
  t.equal(typeof valueOf(await tickUntil(await submit({ transaction_xdr: count }), 'confirmed')), 'number');
  const entries = await consented(owner, to, LUMEN);
  const value = xdr.ScVal.scvI128(new xdr.Int128Parts({ hi: 0n, lo: LUMEN }));
  const call = invoke(native, 'transfer', val(owner), val(to), value);
  const auth = entries.map((entry) => xdr.SorobanAuthorizationEntry.fromXdr(entry, 'base64'));
  await tickUntil(await submit({ transaction_xdr: await unsigned(withAuth(call, auth)) }), 'confirmed');
  t.equal(await balanceOf(owner.publicKey()), 99n * LUMEN);
  const alone = await tickUntil(await submit({ transaction_xdr: await unsigned(call) }), 'failed');
  t.match(alone, { hash: null, status_reason: /needs the authorization of another account/ });
});

t.test('a consent that has expired ends the request without a fee', async (t) => {
  const [owner, to] = [await funded(), await funded()];
  const entries = await consented(owner, to, LUMEN, 2);
  await net.tick(3);
  const late = await ended({ ...transfer(owner, to, LUMEN), auth: { type: 'xdr', entries } }, 'expired');
  t.match(late, { hash: null, status_reason: 'An authorization entry in its auth has expired' });

  const short = await consented(owner, to, LUMEN, 2);
  await net.dropNext(1_000);
  const before = await balanceOf(relayer.publicKey());
  const id = await submit({ operations: [{ ...transfer(owner, to, LUMEN), auth: { type: 'xdr', entries: short } }] });
  await until(id, ({ status }) => status === 'submitted');
  await net.tick(3);
  await net.dropNext(0);
  await net.travel(200);
  const { hash } = await tickUntil(id, 'expired');
  t.equal(await landings(hash), 0);
  t.equal(await balanceOf(relayer.publicKey()), before);
});

t.test('a call whose ground is gone by the time costs its fee and says why', async (t) => {
  const [owner, to] = [await funded(), await funded()];
  const entries = await consented(owner, to, 60n * LUMEN);
  const id = await submit({ operations: [{ ...transfer(owner, to, 60n * LUMEN), auth: { type: 'xdr', entries } }] });
  await until(id, ({ status }) => status === 'submitted');
  await net.fund(owner.publicKey(), -50n * LUMEN);
  const failed = await tickUntil(id, 'failed');
  t.match(
    failed.status_reason,
    /^Transaction failed on-chain\. reason=TxFailed op=Trapped contract_error=Contract\(10\) message=".*balance.*"$/,
  );
  t.equal(await landings(failed.hash), 1);
});

t.test('a call that was lost is simulated anew before it is signed anew', async (t) => {
  const counted = await ended(call(probe, 'add', address(relayer), { u32: 1 }));
  await net.dropNext(1);
  const simulations = await net.calls('simulateTransaction');
  const id = await submit({ operations: [call(probe, 'add', address(relayer), { u32: 1 })] });
  const first = await until(id, ({ status }) => status === 'submitted');
  await net.tick();
  await net.travel(200);
  const told = await tickUntil(id, 'confirmed');
  t.not(told.hash, first.hash);
  t.equal(valueOf(told), Number(valueOf(counted)) + 1);
  t.ok((await net.calls('simulateTransaction')) >= simulations + 2);
});

t.test('what has been archived is brought back first, by a transaction of its own', async (t) => {
  const key = xdr.LedgerKey.contractData(
    new xdr.LedgerKeyContractData({
      contract: new Address(probe).toScAddress(),
      key: xdr.ScVal.scvLedgerKeyContractInstance(),
      durability: xdr.ContractDataDurability.persistent,
    }),
  );
  await net.archive(key);
  const footprint = new xdr.LedgerFootprint({ readOnly: [], readWrite: [key] });
  const resources = new xdr.SorobanResources({ footprint, instructions: 0, diskReadBytes: 0, writeBytes: 0 });
  const data = new xdr.SorobanTransactionData({ ext: xdr.SorobanTransactionDataExt.v0(), resources, resourceFee: 0n });
  const restorePreamble = { minResourceFee: '100', transactionData: data.toXdr('base64') };
  await net.fault({ methods: ['simulateTransaction'], times: 1, act: { kind: 'merge', fields: { restorePreamble } } });
  const before = (await net.landed()).length;
  const told = await ended(call(probe, 'count'));
  t.equal(typeof valueOf(told), 'number');
  const landed = (await net.landed()).slice(before);
  t.equal(landed.length, 2);
  t.equal(landed[1]?.hash, told.hash, 'the other came first');
});

t.test('a node that asks for more consent than the call itself is not believed', async (t) => {
  const to = await funded();
  const [entry] = await consented(relayer, to, LUMEN);
  const results = [{ auth: [entry], xdr: xdr.ScVal.scvVoid().toXdr('base64') }];
  await net.fault({ methods: ['simulateTransaction'], times: 1, act: { kind: 'merge', fields: { results } } });
  const refused = await ended(call(probe, 'count'), 'failed');
  t.match(refused, { hash: null, status_reason: /needs the authorization of another account/ });
});

t.test('what no contract takes is refused at once, with its place', async (t) => {
  const good = call(probe, 'add', address(relayer), { u32: 1 });
  const to = await funded();
  const cases: [object, RegExp][] = [
    [{ operations: [{ ...good, args: [{ u32: -1 }] }] }, /`operations\.0\.args\.0\.u32`: expected an integer from 0/],
    [{ operations: [{ ...good, auth: { type: 'addresses', signers: [] } }] }, /Address-based auth not yet implemented/],
    [{ operations: [good, good] }, /can contain at most one Soroban operation/],
    [{ operations: [good, payment(to, 1n)] }, /Soroban operations must be exclusive/],
    [{ operations: [good], memo: { type: 'id', value: 1 } }, /Soroban operations cannot have a memo/],
    [{ operations: [{ type: 'restore_footprint', data: 'AAAA' }] }, /`operations\.0\.type`/],
  ];
  for (const [body, said] of cases) {
    t.match(await post(body), { status: 400, body: { success: false, error: said } }, said.source);
  }
  t.match(await post({ operations: [good], memo: { type: 'none' } }), { status: 200 });
});
