/**
 * Node's larger modules. Each is loaded at its first use, or when the process has time. Loading them takes a sixth of a
 * child's whole start.
 */
const { getBuiltinModule } = process;

function late<M>(load: () => M): () => M {
  let loaded: M | undefined;
  return () => {
    loaded ??= load();
    return loaded;
  };
}

/** `node:crypto`. */
export const nodeCrypto = late(() => getBuiltinModule('node:crypto'));

/** `node:zlib`. */
export const nodeZlib = late(() => getBuiltinModule('node:zlib'));

/** Loads all of these modules, so that no call has to wait for it. */
export function loadNodeBuiltins(): void {
  nodeCrypto();
  nodeZlib();
}
