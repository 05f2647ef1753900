const SIGNALS = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};
const ERRNO = {
  E2BIG: 7,
  EACCES: 13,
  EADDRINUSE: 98,
  EAGAIN: 11,
  ECONNREFUSED: 111,
  ECONNRESET: 104,
  EEXIST: 17,
  EINVAL: 22,
  EISDIR: 21,
  EMFILE: 24,
  ENOENT: 2,
  ENOMEM: 12,
  ENOTDIR: 20,
  EPERM: 1,
  EPIPE: 32,
  ETIMEDOUT: 110,
};
const PRIORITY = {
  PRIORITY_LOW: 19,
  PRIORITY_BELOW_NORMAL: 10,
  PRIORITY_NORMAL: 0,
  PRIORITY_ABOVE_NORMAL: -7,
  PRIORITY_HIGH: -14,
  PRIORITY_HIGHEST: -20,
};

/**
 * Node's module `os`. It describes a small Linux machine that does not exist: the real one does not concern a plugin.
 */
export function createOs(uptime: () => number): Record<string, unknown> {
  const memory = 128 * 1_048_576;
  return {
    EOL: '\n',
    devNull: '/dev/null',
    constants: { UV_UDP_REUSEADDR: 4, signals: SIGNALS, errno: ERRNO, priority: PRIORITY, dlopen: {} },
    arch: () => 'x64',
    machine: () => 'x86_64',
    platform: () => 'linux',
    type: () => 'Linux',
    release: () => '6.0.0',
    version: () => '#1 SMP',
    endianness: () => 'LE',
    hostname: () => 'localhost',
    homedir: () => '/',
    tmpdir: () => '/tmp',
    uptime,
    cpus: () => [{ model: '', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }],
    availableParallelism: () => 1,
    loadavg: () => [0, 0, 0],
    totalmem: () => memory,
    freemem: () => memory,
    networkInterfaces: () => ({}),
    userInfo: () => ({ uid: 1000, gid: 1000, username: 'plugin', homedir: '/', shell: null }),
    getPriority: () => 0,
    setPriority: () => undefined,
  };
}
