"""Games by key: how rounds are grouped, and how the states of many games are kept, packed and started."""
