/** The process of a counterpart for Solana. Native code may end this process without ending a test. */
import { answerCommands } from '../counterpart/commands.ts';
import { type Command, type OnChain, SVM_DEFAULTS, type SvmOptions } from './control.ts';
import { type Landed, Ledger } from './ledger.ts';
import { NodeView } from './node-view.ts';
import { RpcServer } from './rpc-server.ts';

const options: Required<SvmOptions> = { ...SVM_DEFAULTS, ...(JSON.parse(process.argv[2] ?? '{}') as SvmOptions) };
const ledger = new Ledger({
  confirmed: options.confirmedAfter,
  finalized: options.finalizedAfter,
  blockhash: options.blockhashLife,
});
const endpoints: RpcServer[] = [];
let timer: NodeJS.Timeout | undefined;

function resume(): void {
  clearInterval(timer);
  if (options.slotMs > 0) timer = setInterval(() => ledger.tick(), options.slotMs);
}

function endpoint(place: number): RpcServer {
  const found = endpoints[place];
  if (found === undefined) throw new Error(`There is no endpoint ${place}.`);
  return found;
}

async function open(behind: number): Promise<string> {
  const server = new RpcServer(new NodeView(ledger));
  server.view.behind = behind;
  endpoints.push(server);
  return server.listen();
}

function perform(command: Command): unknown {
  switch (command.kind) {
    case 'fund':
      return ledger.fund(command.key, BigInt(command.lamports));
    case 'write': {
      const data = Buffer.from(command.data, 'base64');
      return ledger.write(command.key, ledger.runtime.account(BigInt(command.lamports), data, command.owner));
    }
    case 'program':
      return ledger.runtime.addProgram(command.key, Buffer.from(command.bytes, 'base64'));
    case 'pause':
      return clearInterval(timer);
    case 'resume':
      return resume();
    case 'tick':
      for (let count = 0; count < command.blocks; count += 1) ledger.tick();
      return undefined;
    case 'skip':
      return ledger.blocks.skip(command.slots);
    case 'drop':
      return ledger.dropNext(command.count);
    case 'delay':
      return ledger.delay(command.blocks);
    case 'fork':
      return ledger.fork(command.blocks, command.again);
    case 'prioritization-fee':
      ledger.prioritizationFees.set(command.key, command.microLamports);
      return undefined;
    case 'landed':
      return [...ledger.landed.values()].map(onChain);
    case 'open':
      return open(command.behind);
    default:
      return performAt(endpoint(command.endpoint), command);
  }
}

const onChain = ({ transaction, block, outcome }: Landed): OnChain => ({
  signature: transaction.signature,
  slot: block.slot,
  err: outcome.err,
});

function performAt({ view, faults, calls }: RpcServer, command: Extract<Command, { endpoint: number }>): unknown {
  switch (command.kind) {
    case 'behind':
      view.behind = command.blocks;
      return undefined;
    case 'illness':
      view.illness = command.illness;
      return undefined;
    case 'prune':
      view.historyFrom = view.newest('finalized').height + 1;
      return undefined;
    case 'fault':
      return faults.add(command.fault);
    case 'clear-faults':
      return faults.clear();
    case 'offers':
      return view.offers;
    case 'calls':
      return Object.fromEntries(calls);
    default:
      return command satisfies never;
  }
}

resume();
answerCommands(perform);
