/** The evidence that a sandbox threat is contained. */
export interface Row {
  /** By test file: titles of tests. The file is relative to `test/`, without `.test.ts`. */
  readonly shown?: Record<string, string | readonly string[]>;
  /** The reason why no test shows it: the design decided otherwise, or nothing can be run. */
  readonly differs?: string;
}

const threats = (file: string) => `slow/threats/${file}`;
const ROPES = 'integration/threats/ropes';
const NEIGHBOURS = 'integration/threats/neighbours';
const GUEST = '../sandbox/test/integration/guest-globals';
const ESCAPE = '../sandbox/test/integration/escape';

/** All rows of the list by number. The list itself skips some numbers. */
export const ROWS: Readonly<Record<number, Row>> = {
  1: { shown: { [threats('processor')]: 'threat 1: loops without an end' } },
  2: {
    shown: {
      [threats('processor')]: 'threat 2: microtasks without an end',
      [threats('results')]: 'threat 2: results that are thenables of thenables',
    },
  },
  3: {
    shown: {
      [threats('processor')]: 'threat 3: promises that never settle',
      [threats('crowd')]: 'threat 3: a hundred calls that wait for ever end with their own time',
    },
  },
  4: { shown: { [threats('capabilities')]: 'threat 4: capability calls awaited for ever' } },
  5: {
    shown: { [threats('capabilities')]: 'threat 5: capability calls that nobody awaits' },
    differs:
      'The guest has a process of its own, which nobody else waits for: the one function that leads out is synchronous there, and what is shown is that the number of calls is bounded and the process killed when it does not come back.',
  },
  6: {
    shown: {
      [threats('logs')]: 'threat 6: floods of log lines',
      [threats('crowd')]: 'threat 6: floods of lines do not fill the service',
    },
  },
  7: { shown: { [threats('leftovers')]: 'threat 7: work after the return' } },
  8: { shown: { [threats('leftovers')]: 'threat 8: continuations that burn the processor' } },
  9: { shown: { [threats('leftovers')]: 'threat 9: finalizers' } },
  10: {
    shown: {
      [threats('processor')]: 'threat 10: explosive regular expressions',
      [threats('capabilities')]: 'threat 10: patterns of keys made to match slowly',
    },
  },
  12: { shown: { [threats('built-ins')]: 'threat 12: built-ins that nothing interrupts' } },
  13: { shown: { [threats('memory')]: 'threat 13: buffers that grow' } },
  14: { shown: { [threats('memory')]: 'threat 14: shared memory' } },
  15: { shown: { [threats('memory')]: 'threat 15: the memory of WebAssembly' } },
  16: {
    shown: {
      [threats('memory')]: 'threat 16: shared memory by way of WebAssembly',
      [threats('escape')]: 'threat 16: what was removed stays removed',
    },
  },
  17: { shown: { [threats('memory')]: 'threat 17: buffers, and whatever is made of them' } },
  18: {
    shown: {
      [ROPES]: 'threat 18: ropes of 2^28 characters',
      [threats('crowd')]: 'threat 18: calls that kill their process are backed off, and the plugin comes back',
    },
    differs:
      'No number of deaths puts a plugin out of service for good, since one caller could bring them about: it is backed off, for seconds and then minutes, and tried again.',
  },
  20: {
    shown: {
      [threats('memory')]: 'threat 20: a heap that grows until the engine gives up',
      [ROPES]: 'threat 20: memory taken inside one built-in',
    },
  },
  22: {
    shown: {
      [threats('results')]: 'threat 22: results beyond every limit',
      [threats('capabilities')]: 'threat 22: parameters without measure',
    },
  },
  23: {
    shown: {
      [threats('results')]: 'threat 23: deep and cyclic results',
      [threats('capabilities')]: 'threat 23: parameters nested beyond any reader',
    },
  },
  25: { shown: { [threats('errors')]: 'threat 25: errors whose properties loop' } },
  26: {
    shown: {
      [threats('errors')]: 'threat 26: Proxies whose traps loop',
      [threats('results')]: 'threat 26: results that are Proxies whose traps loop',
    },
  },
  28: {
    shown: {
      [threats('errors')]: 'threat 28: rejections that nobody handles',
      [NEIGHBOURS]: 'threat 28: a rejection of one call is not the error of the next',
      '../sandbox/test/unit/process/isolate':
        'a rejection that a stretch left behind does not come out of what this side asks next',
    },
  },
  29: { shown: { [threats('walls')]: 'threat 29: a capability that fails after its call is over' } },
  30: {
    shown: {
      [threats('escape')]: 'threat 30: nothing of isolated-vm can be reached',
      [GUEST]: 'nothing of the host or of isolated-vm can be reached',
    },
  },
  31: {
    shown: {
      [threats('escape')]: 'threat 31: no function is the host’s own',
      [GUEST]: 'no function of the runtime or the host is found in stack frames or callers',
    },
  },
  32: { shown: { [threats('walls')]: 'threat 32: nothing of isolated-vm leads through the wall' } },
  33: {
    shown: {
      [NEIGHBOURS]: 'threat 33: what a guest changes of what it was given changes nothing on this side',
    },
  },
  34: {
    shown: {
      [threats('keys')]: 'threat 34: no memory is shared with what a capability is given',
      [threats('memory')]: 'threat 14: shared memory',
    },
  },
  35: {
    shown: {
      [threats('keys')]: 'threat 35: what is checked is what is signed',
      [threats('capabilities')]: 'threat 35: parameters that change while they are read',
      [threats('results')]: 'threat 35: results that change while they are read',
    },
  },
  38: {
    shown: {
      [threats('escape')]: 'threat 38: errors say nothing of the host',
      'unit/src/features/plugins/host/gateway':
        'an unexpected fault is logged with its ids, and the plugin learns nothing of it',
    },
  },
  39: { shown: { [threats('escape')]: 'threat 39: call sites show nothing of the host' } },
  40: { shown: { [threats('escape')]: 'threat 40: constructors of constructors are the guest’s own' } },
  42: { shown: { [threats('escape')]: 'threat 42: nothing is imported at run time' } },
  43: {
    shown: {
      [threats('escape')]: 'threat 43: code made of text is as confined as any',
      [threats('processor')]: 'threat 43: sources made to be compiled for ever',
      [threats('memory')]: 'threat 43: functions compiled for ever',
    },
  },
  44: { shown: { [threats('walls')]: 'threat 44: compiled code comes from nowhere but the child itself' } },
  45: {
    shown: {
      [threats('walls')]: 'threat 45: no inspector listens, whoever asks for one',
      [ESCAPE]: 'what the child process cannot do',
    },
  },
  46: { shown: { [threats('walls')]: 'threat 46: worlds made for one call each do not pile up' } },
  48: {
    shown: {
      [NEIGHBOURS]:
        'threat 48: what one call leaves is not there for another plugin, nor for another call of its own isolate',
      [threats('leftovers')]: 'threat 48: memory kept for the next call',
    },
    differs:
      'An isolate that came back clean may serve the next call of the same plugin version, and what that version keeps in its own globals is there again; so it is shown across plugins, and within one with isolation "call".',
  },
  49: {
    shown: {
      [NEIGHBOURS]: 'threat 49: a polluted prototype stays in its own isolate',
      [threats('leftovers')]: 'threat 49: globals and prototypes poisoned for the next call',
      [GUEST]: 'poisoned built-ins break neither the runtime nor the outcome',
    },
  },
  50: { shown: { [threats('crowd')]: 'threat 50: sixteen loops and one honest plugin' } },
  51: { shown: { [threats('processor')]: 'threat 51: Atomics.wait' } },
  52: { shown: { [threats('processor')]: 'threat 52: Atomics.waitAsync' } },
  53: { shown: { [threats('walls')]: 'threat 53: nothing in the child waits for the host while a guest runs' } },
  56: { shown: { [threats('keys')]: 'threat 56: no secret lies in the memory of a child' } },
  57: {
    shown: {
      [threats('escape')]: 'threat 57: clocks are coarse',
      [threats('processor')]: 'threat 57: clocks read as fast as they can be',
    },
    differs:
      'Plugins measure time and set time limits, so clocks go on while a guest runs: in steps of a tenth of a millisecond or more, without threads or shared memory to count finer, and with nothing secret in the process that could be measured.',
  },
  58: {
    shown: {
      [threats('keys')]:
        'threat 58: the children have no environment, no secret in their command line, and read nothing but their code',
      [threats('escape')]: 'threat 58: nothing of the environment is there',
    },
  },
  59: {
    shown: {
      [NEIGHBOURS]:
        'threat 59: what was captured in one call acts in no later one, and other plugins’ things stay theirs',
      [threats('capabilities')]: 'threat 59: names that are not the plugin’s own',
      'unit/src/features/plugins/host/gateway': 'after its end, or from another child, a call can do nothing',
    },
  },
  60: {
    shown: {
      [NEIGHBOURS]: 'threat 60: neither the key nor what it was sent in reaches a plugin',
      [threats('escape')]: 'threat 60: the caller’s credential is not there',
      [threats('keys')]: 'threat 60: no secret stands in what the server wrote',
    },
  },
  62: {
    shown: {
      [threats('logs')]: 'threat 62: log lines that forge, flood or lead astray',
      [NEIGHBOURS]: 'threat 62: forwarded lines cannot forge or command',
    },
  },
  64: {
    shown: {
      [NEIGHBOURS]: 'threat 64: who holds a lock past its time writes nothing any more',
      [threats('capabilities')]: 'threat 64: locks that are kept',
      'integration/plugin-kv': 'who holds a lock past its time writes nothing any more, and its result stands',
    },
    differs:
      'Existing plugins know no fence: the service stamps that of the lock on whatever the call writes inside `withLock`, to its values. What it sends is not held to the lock.',
  },
  65: {
    shown: {
      [threats('walls')]: [
        'threat 65: redirects, and proxies of the environment, lead nowhere else',
        'threat 65: a name that changes its address between check and connection',
      ],
      [threats('capabilities')]: 'threat 65: fetches to where nobody granted',
    },
  },
  67: {
    shown: {
      'integration/plugin-budgets': [
        'of a hundred calls at once that each send a tenth of the limit, ten are accepted',
        'what one request may be is told from the request',
        'no other way leads past the limits',
      ],
      'slow/plugin-budgets-killed':
        'whatever a plugin sends, and whenever the server is killed, the limit holds on chain',
    },
  },
  68: {
    shown: { [ESCAPE]: 'what a hostile child says on its channel costs only itself' },
    differs:
      'The channel is a pair of sockets that only the two processes hold, so a code that proves the sender would prove nothing: who subverted the child has its keys too. The driver stamps who speaks, and takes each number of a request once.',
  },
  69: {
    shown: {
      [threats('folder')]: [
        'threat 69: no path leads out of the plugins folder',
        'threat 69: a file that is swapped for a link while it is read',
      ],
    },
  },
  71: { shown: { [threats('folder')]: 'threat 71: entries that contradict themselves are refused at the start' } },
  72: {
    differs:
      'Plugins and their packages are the operator’s own files, in a folder that only the operator writes; a hash of what was bundled names the version and is shown. What a package could do is what its plugin was granted, and that is what the grants are for.',
  },
  73: {
    differs:
      'No test finds a fault of V8 that nobody knows. The answer is the second wall, shown at row 74: who gets out of the isolate is in a process without environment, files, network, processes or keys. The version of Node is pinned in the lockfile; its updates are the operator’s.',
  },
  74: {
    shown: {
      [threats('walls')]: 'threat 74: the children are started without what would void their restrictions',
      [ESCAPE]: ['what the child process cannot do', 'a child without its restrictions refuses to run guests'],
    },
  },
};
