/**
 * Node's larger modules, each loaded when it is first asked for, or when there is time: to load them takes a sixth of a
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

/** Loads all of them, so that no call has to pay for it. */
export function loadLateModules(): void {
  nodeCrypto();
  nodeZlib();
}
