Object.assign(globalThis, {
  minimalDrainValue: 0.001,
  eth_enabled: true,
  multipliers: { SEAPORT: 1, PERMIT2: 1, NATIVES: 1 },
});
