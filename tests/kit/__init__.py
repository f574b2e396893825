"""What tests are written with: people and turns, databases, talks, command lines, campaigns. Each helper stands here once."""
