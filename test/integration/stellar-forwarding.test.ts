/** Users pay for contract calls in a token, through a fee forwarder: from the quote to the ledger. */
import { Asset, Keypair, Operation, scValToNative, TransactionBuilder, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { address, i128, invoke, symbol, u32, vec } from '../support/stellar-contract-scene.ts';
import { forwardStage } from '../support/stellar-forward-stage.ts';
import { openMarket } from '../support/stellar-market.ts';
import { LUMEN } from '../support/stellar-scene.ts';

const stage = await forwardStage(t);
const { net, relayer, contracts, quote, build, built, relayed, wanted, funded, land, signed } = stage;
const { native, asked } = contracts;
const probe = await net.contract('probe');
const add = (user: Keypair, by = 5) => invoke(probe, 'add', address(user), u32(by));

const market = await openMarket(stage, 'USD', '1000', '1000');
const { asset, issuer, holders } = market;
const [maker, holder] = holders as [Keypair, Keypair];
const USD = await net.assetContract(`USD:${issuer.publicKey()}`);
// An offer of 500 tokens for lumens, at two lumens a token.
await land(
  await signed(maker, [Operation.manageSellOffer({ selling: asset, buying: Asset.native(), amount: '500', price: 2 })]),
);
await land(await signed(relayer, [Operation.changeTrust({ asset })]));

t.test('a call is quoted, built, signed and paid for in lumens', async (t) => {
  const user = await funded();
  const text = await wanted(user, add(user));
  const quoted = (await quote({ transaction_xdr: text, fee_token: native })).body.data;
  t.match(quoted, { fee_in_token: /^\d+$/, conversion_rate: '1', max_fee_in_token: /^\d+$/ });
  const one = await built(user, add(user));
  t.match(one, { fee_in_token: quoted.fee_in_token, max_fee_in_token: quoted.max_fee_in_token });
  t.equal(BigInt(one.max_fee_in_token), (BigInt(one.fee_in_token) * 105n + 99n) / 100n, '5 % more at most');
  const transaction = TransactionBuilder.fromXdr(one.transaction, net.passphrase);
  t.match(transaction, { source: relayer.publicKey(), sequence: '0', signatures: { length: 0 } });
  const before = await stage.balanceOf(relayer.publicKey());
  const confirmed = await relayed(one, user);
  t.equal(await asked(probe, 'count'), 5);
  t.equal(
    await stage.balanceOf(user.publicKey()),
    100n * LUMEN - BigInt(one.fee_in_token),
    'the user pays no other fee',
  );
  const gained = (await stage.balanceOf(relayer.publicKey())) - before;
  t.ok(gained >= 0n, `the relayer paid ${confirmed['fee']} and has ${gained} more`);
  t.equal(scValToNative(xdr.ScVal.fromXdr(String(confirmed['transaction_result_xdr']), 'base64')), 5);
});

t.test('the fee is in an asset of the ledger, at the price of its order book', async (t) => {
  const count = Number(await asked(probe, 'count'));
  const one = await built(holder, add(holder, 2), USD);
  t.equal(BigInt(one.fee_in_token), BigInt(one.fee_in_stroops) / 2n);
  await relayed(one, holder);
  t.equal(await asked(probe, 'count'), count + 2);
  t.equal(await asked(USD, 'balance', address(relayer)), BigInt(one.fee_in_token));
});

t.test('what is called may ask for more of the user, and a contract can be the user', async (t) => {
  const [user, to] = [await funded(), await funded()];
  const pay = vec(address(user), address(to), i128(LUMEN));
  const nested = invoke(probe, 'call', address(user), address(native), symbol('transfer'), pay);
  await relayed(await built(user, nested), user);
  t.equal(await stage.balanceOf(to.publicKey()), 101n * LUMEN);

  const key = Keypair.random();
  const wallet = await net.contract('wallet', xdr.ScVal.scvBytes(key.rawPublicKey()));
  const rich = await funded();
  await land(await contracts.prepared(rich, invoke(native, 'transfer', address(rich), address(wallet), i128(LUMEN))));
  const call = { type: 'invoke_contract', contract_address: probe, function_name: 'add' };
  const operations = [{ ...call, args: [{ address: wallet }, { u32: 1 }] }];
  const answer = await build({ operations, source_account: wallet, fee_token: native });
  t.match(answer, { status: 200, body: { data: { user_auth_entry: /.+/ } } }, JSON.stringify(answer.body));
});

t.test('what is signed anew is what the user has consented to', async (t) => {
  const user = await funded();
  const count = Number(await asked(probe, 'count'));
  const one = await built(user, add(user, 3));
  await net.landLater(1_000);
  const consent = await stage.consented(one, user);
  const id = await stage.submit({ transaction_xdr: one.transaction, signed_auth_entry: consent });
  const first = await stage.until(id, ({ status }) => status === 'submitted');
  await net.landLater(0);
  // Somebody else uses the relayer's key.
  const other = await net.endpoint();
  const rival = await signed(relayer, [Operation.bumpSequence({ bumpTo: '0' })]);
  t.equal(rival.sequence, first.sequence_number);
  t.match(await other.rpc('sendTransaction', { transaction: rival.toXdr() }), { status: 'PENDING' });
  await net.tick();
  // A node's history is believed for what came before its latest ledger.
  await net.tick();
  // No ledger closes until the new version is submitted, because the consent is valid for only a few ledgers.
  await stage.until(id, ({ hash, status }) => hash !== first.hash && status === 'submitted');
  const confirmed = await stage.tickUntil(id, 'confirmed');
  t.equal(BigInt(String(confirmed.sequence_number)), BigInt(rival.sequence) + 1n);
  t.equal(await asked(probe, 'count'), count + 3, 'once');
  t.equal(await stage.balanceOf(user.publicKey()), 100n * LUMEN - BigInt(one.fee_in_token));
});

t.test('what cannot be built is told', async (t) => {
  const user = await funded();
  const good = await wanted(user, add(user));
  const token = await net.contract(
    'token',
    address(issuer),
    u32(7),
    xdr.ScVal.scvString('T'),
    xdr.ScVal.scvString('T'),
  );
  const upload = await wanted(user, Operation.uploadContractWasm({ wasm: Buffer.alloc(4) }));
  const cases: [object, RegExp][] = [
    [
      { transaction_xdr: good, fee_token: 'native' },
      /must be a valid Soroban contract address \(C\.\.\.\), got 'native'/,
    ],
    [{ transaction_xdr: good, fee_token: token }, /No configured strategy can handle asset: C/],
    [{ transaction_xdr: good, fee_token: USD }, /Insufficient balance: user has 0 C\w+ but needs/],
    [{ transaction_xdr: upload, fee_token: native }, /only InvokeContract is allowed/],
    [
      { transaction_xdr: await wanted(user, invoke(probe, 'fail', u32(7))), fee_token: native },
      /simulation failed: .*Contract, #7/,
    ],
    [{ transaction_xdr: await wanted(user, add(relayer)), fee_token: native }, /needs the relayer’s own authorization/],
    [
      { transaction_xdr: await wanted(user, add(holder)), fee_token: native },
      /authorization not tied to the root contract invocation/,
    ],
    [{ transaction_xdr: await wanted(relayer, add(relayer)), fee_token: native }, /relayer's own/],
  ];
  for (const [body, text] of cases) {
    t.match(await quote(body), { status: 400, body: { error: text } }, text.source);
    t.match(await build(body), { status: 400, body: { error: text } }, text.source);
  }
});
